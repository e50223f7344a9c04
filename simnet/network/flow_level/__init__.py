"""Max-min fair sharing of links in compiled kernels, solved again only where something changed."""
