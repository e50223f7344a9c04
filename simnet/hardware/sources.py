"""What the tags in square brackets of the presets stand for."""

SOURCES = {
    "AIC": "ai-dynamo/aiconfigurator at 095f58a5: systems/*.yaml and its measured GEMM and NCCL tables (NVIDIA)",
    "ASTRA": "astra-sim validated inputs: HGX-H100, 936 ns end to end through an NVSwitch",
    "DLPERF": "Oneflow-Inc/DLPerf at c89430b",
    "MLE-ACC": "stas00/ml-engineering, compute/accelerator: datasheet peaks and measured best-shape matmul (MAMF)",
    "MLE-NET": "stas00/ml-engineering, network: link rates and measured transfers",
    "MLI": "mli/transformers-benchmarks README: matmul on V100, A100, RTX 3090 Ti, RTX 4090",
    "N814": "NVIDIA/nccl issue 814: RTX 4090 without peer-to-peer",
    "NCCL-TOPO": "NVIDIA/nccl at 5067397c: src/graph/topo.h and topo.cc, the rates NCCL assumes",
    "NT117": "NVIDIA/nccl-tests issue 117: GeForce Turing cannot access its peers",
    "NVB": "NVIDIA/nvbandwidth README: both directions of PCIe 4 at once",
    "PIPEMOE": "Fragile-azalea/PipeMoE solver.py: fitted GEMM time of the RTX 2080 Ti",
    "RTX6K": "voipmonitor/rtx6kpro: PCIe 5 measurements of peer-to-peer rates and latencies",
    "SB": "microsoft/superbenchmark: sample results on 8x A100",
    "SONIC": "sonic-net/sonic-buildimage: buffer pools of the switch ASICs",
    "VTRAIN": "VIA-Research/vTrain at f8dda84: measured V100 and A100 rings",
    "UPI": "public descriptions of Intel UPI: 10.4 GT/s is 20.8 GB/s per link and direction; 16 GT/s since UPI 2.0",
    "DRAM": "channels x transfers/s x 8 bytes of the processor's public data sheet",
}
