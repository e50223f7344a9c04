"""Dense neural networks as lists of layers: parameters, operations and activations, from their shapes.

Formulas are those of Narayanan et al. 2021 (arXiv 2104.04473, the appendix on FLOPs) and Korthikanti et al. 2022
(arXiv 2205.05198, section 4); shapes come from the papers and public configurations. Parameter counts are exact.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Layer:
    """One layer as the simulator sees it.

    parameters: number of weights, each of which has a gradient. flops [FLOP], activations [elements written]: of the
    forward pass for one sample; a multiply-add counts as 2 FLOP.
    """

    name: str
    parameters: int
    flops: float
    activations: int


@dataclass(frozen=True)
class Transformer:
    """A decoder or encoder of `layers` equal layers.

    hidden h, heads a, kv_heads g, ffn f, vocabulary V; sequence s: the longest, and the default. gated: three matrices
    in the feed-forward network, no biases, one weight per normalised element, no learned positions (LLaMA). tied:
    the output layer shares the embedding. output: 'logits' or BERT's 'pooler'.
    """

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    ffn: int
    vocabulary: int
    sequence: int
    gated: bool = False
    tied: bool = True
    output: str = "logits"

    def build(self, sequence: int) -> list[Layer]:
        """All layers for samples of `sequence` tokens."""
        blocks = [self._block(f"layer {i}", sequence) for i in range(self.layers)]
        return [self._embedding(sequence), *blocks, self._output(sequence)]

    def _embedding(self, s: int) -> Layer:
        rows = self.vocabulary
        if not self.gated:
            rows += self.sequence  # learned positions
        extra = 0
        if self.output == "pooler":
            rows += 2  # BERT's segments, and a layer norm
            extra = 2 * self.hidden
        return Layer(name="embedding", parameters=rows * self.hidden + extra, flops=0.0, activations=s * self.hidden)

    def _block(self, name: str, s: int) -> Layer:
        """Attention and feed-forward network: 34 s h bytes of activations in 16 bits for f = 4 h."""
        first, second = self.attention(s), self.feed_forward(s)
        return Layer(
            name=name,
            parameters=first.parameters + second.parameters,
            flops=first.flops + second.flops,
            activations=first.activations + second.activations,
        )

    def attention(self, s: int) -> Layer:
        """The first half of a block, with its norm.

        Parameters 2 h^2 (1 + g/a), biases and norm; FLOPs 4 s h^2 (1 + g/a) for the projections, 4 s^2 h for scores
        and context (causal masks not deducted). Activations 6.5 s h: attention kernels today keep no s x s matrices.
        """
        h = self.hidden
        projections = 2 * h * h + 2 * h * h * self.kv_heads // self.heads
        return Layer(
            name="attention",
            parameters=projections + (h if self.gated else 6 * h),  # a norm; or a layer norm of 2 h and biases of 4 h
            flops=2.0 * s * projections + 4.0 * s * s * h,
            activations=s * 13 * h // 2,
        )

    def feed_forward(self, s: int) -> Layer:
        """The second half of a block, with its norm.

        Parameters 2 h f (3 h f where gated), biases and norm; FLOPs 4 s h f (6 s h f); activations s (2.5 h + 2 f)
        (3 f).
        """
        h, f = self.hidden, self.ffn
        weights = self.matrices * h * f
        return Layer(
            name="feed-forward",
            parameters=weights + (h if self.gated else 3 * h + f),
            flops=2.0 * s * weights,
            activations=s * (5 * h + 2 * self.matrices * f) // 2,
        )

    @property
    def matrices(self) -> int:
        """Of a feed-forward network."""
        return 3 if self.gated else 2

    def _output(self, s: int) -> Layer:
        h, v = self.hidden, self.vocabulary
        if self.output == "pooler":
            return Layer(name="pooler", parameters=h * h + h, flops=2.0 * h * h, activations=h)
        norm = h if self.gated else 2 * h
        return Layer(
            name="logits", parameters=norm + (0 if self.tied else v * h), flops=2.0 * s * h * v, activations=s * v
        )


@dataclass(frozen=True)
class ResNet:
    """A residual network of bottleneck blocks on images of 224 x 224 (He et al. 2016, table 1)."""

    blocks: tuple[int, ...]
    classes: int = 1000
    sequence: None = None

    def build(self, sequence: None) -> list[Layer]:
        """All layers; a bottleneck block is one."""
        layers = [_convolutions("stem", [(3, 64, 7, 112)])]
        channels = 64
        for stage, count in enumerate(self.blocks):
            narrow, pixels = 64 << stage, 56 >> stage
            for block in range(count):
                # the first block of a stage halves the image in its 3 x 3 convolution and projects its shortcut
                before = pixels * 2 if block == 0 and stage > 0 else pixels
                shapes = [(channels, narrow, 1, before), (narrow, narrow, 3, pixels), (narrow, 4 * narrow, 1, pixels)]
                if block == 0:
                    shapes.append((channels, 4 * narrow, 1, pixels))
                layers.append(_convolutions(f"block {stage + 1}.{block}", shapes))
                channels = 4 * narrow
        weights = channels * self.classes
        classifier = Layer(
            name="classifier", parameters=weights + self.classes, flops=2.0 * weights, activations=self.classes
        )
        return [*layers, classifier]


def _convolutions(name: str, shapes: list[tuple[int, int, int, int]]) -> Layer:
    """Convolutions (channels in, channels out, kernel, output pixels a side), each with a batch norm."""
    weights = [i * o * k * k for i, o, k, _ in shapes]
    return Layer(
        name=name,
        parameters=sum(w + 2 * o for w, (_, o, _, _) in zip(weights, shapes)),
        flops=sum(2.0 * w * pixels**2 for w, (_, _, _, pixels) in zip(weights, shapes)),
        # the convolution's output and the normalised one
        activations=sum(2 * o * pixels**2 for _, o, _, pixels in shapes),
    )


def _gpt2(layers, hidden, heads) -> Transformer:
    return Transformer(layers, hidden, heads, heads, 4 * hidden, 50257, 1024)


def _gpt3(layers, hidden, heads) -> Transformer:
    return Transformer(layers, hidden, heads, heads, 4 * hidden, 50257, 2048)


def _bert(layers, hidden, heads) -> Transformer:
    return Transformer(layers, hidden, heads, heads, 4 * hidden, 30522, 512, output="pooler")


def _llama(layers, hidden, heads, kv_heads, ffn, vocabulary, sequence) -> Transformer:
    return Transformer(layers, hidden, heads, kv_heads, ffn, vocabulary, sequence, gated=True, tied=False)


MODELS: dict[str, Transformer | ResNet] = {
    # Radford et al. 2019; shapes as in nanoGPT
    "gpt2_small": _gpt2(12, 768, 12),
    "gpt2_medium": _gpt2(24, 1024, 16),
    "gpt2_large": _gpt2(36, 1280, 20),
    "gpt2_xl": _gpt2(48, 1600, 25),
    # Brown et al. 2020, table 2.1
    "gpt3_125m": _gpt3(12, 768, 12),
    "gpt3_350m": _gpt3(24, 1024, 16),
    "gpt3_760m": _gpt3(24, 1536, 16),
    "gpt3_1.3b": _gpt3(24, 2048, 16),
    "gpt3_2.7b": _gpt3(32, 2560, 32),
    "gpt3_6.7b": _gpt3(32, 4096, 32),
    "gpt3_13b": _gpt3(40, 5120, 40),
    "gpt3_175b": _gpt3(96, 12288, 96),
    # Devlin et al. 2019
    "bert_base": _bert(12, 768, 12),
    "bert_large": _bert(24, 1024, 16),
    # Touvron et al. 2023; Llama team 2024 (arXiv 2407.21783)
    "llama2_7b": _llama(32, 4096, 32, 32, 11008, 32000, 4096),
    "llama2_13b": _llama(40, 5120, 40, 40, 13824, 32000, 4096),
    "llama2_70b": _llama(80, 8192, 64, 8, 28672, 32000, 4096),
    "llama3_8b": _llama(32, 4096, 32, 8, 14336, 128256, 8192),
    "llama3_70b": _llama(80, 8192, 64, 8, 28672, 128256, 8192),
    # He et al. 2016
    "resnet50": ResNet((3, 4, 6, 3)),
    "resnet101": ResNet((3, 4, 23, 3)),
}
