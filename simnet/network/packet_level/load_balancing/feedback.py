"""What a sender learns about one of its paths."""

ANSWERED, TRIMMED, EXPIRED = range(3)  # a packet has come through, was trimmed; a timeout has fired
