"""XML from strangers to a tree that knows its lines: no entities, no external files, bounded size and depth.

A document may name its DTD, which is not read; one that declares anything itself is refused. What is packed by gzip is
unpacked.
"""

import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler

import defusedxml.sax
from defusedxml import DefusedXmlException

from simnet.errors import InputError

MAX_BYTES = 4 * 2**20
MAX_DEPTH = 64

_GZIP = b"\x1f\x8b"
_NAMED_DTD = re.compile(rb"""<!DOCTYPE\s+[\w:.-]+(\s+(SYSTEM|PUBLIC)(\s+("[^"<>]*"|'[^'<>]*'))+)?\s*>""")


@dataclass(eq=False)
class Element:
    """An XML element, equal to itself alone. place: 'file:line' where it starts; text: what stands in it beside its
    children, stripped."""

    tag: str
    attributes: dict[str, str]
    place: str
    children: list["Element"] = field(default_factory=list)
    text: str = ""

    def get(self, name: str) -> str:
        """An attribute without surrounding space; '' where it is absent."""
        return self.attributes.get(name, "").strip()

    def all(self, tag: str) -> Iterator["Element"]:
        """Children of one tag."""
        return (child for child in self.children if child.tag == tag)

    def error(self, sentence: str) -> InputError:
        """An error that says where this element is."""
        return InputError(f"{self.place}: {self.tag}: {sentence}")

    def number(self, name: str, default: int, low: int, high: int) -> int:
        """A whole number in [low, high]; `default` where it is absent or empty. Raises InputError otherwise."""
        text = self.get(name)
        try:
            value = int(text) if text else default
        except ValueError:
            raise self.error(f"{name}: expected a whole number, got '{text[:40]}'") from None
        if not low <= value <= high:
            raise self.error(f"{name}: must be between {low} and {high}, got {text[:40]}")
        return value


def read(path: Path) -> Element:
    """The root element of an XML file. Raises InputError with 'file:line: what is wrong'."""
    data = _bytes(path)
    if len(data) > MAX_BYTES:
        raise InputError(f"{path}:1: is larger than {MAX_BYTES >> 20} MiB, the most that is read as XML")
    if not data.strip():
        raise InputError(f"{path}:1: the file is empty")
    data = _NAMED_DTD.sub(lambda match: re.sub(rb"[^\n]", b" ", match.group()), data, count=1)
    tree = _TreeBuilder(path)
    try:
        defusedxml.sax.parse(BytesIO(data), tree, forbid_dtd=True)
    except SAXParseException as error:
        raise InputError(f"{path}:{error.getLineNumber()}: not valid XML: {error.getMessage()}") from None
    except DefusedXmlException:
        raise InputError(f"{path}:{tree.line}: a DTD or entity; only plain elements are accepted") from None
    except (ValueError, LookupError) as error:  # an encoding that does not exist, or text that is not in it
        raise InputError(f"{path}:{tree.line}: not valid XML: {error}") from None
    return tree.root


def _bytes(path: Path) -> bytes:
    """Content of a file, unpacked; MAX_BYTES + 1 of it where there is more."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        return gzip.GzipFile(fileobj=BytesIO(data)).read(MAX_BYTES + 1) if data.startswith(_GZIP) else data
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path}:1: cannot be unpacked: {error}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


class _TreeBuilder(ContentHandler):
    def __init__(self, path: Path):
        super().__init__()
        self.path = path
        self.open: list[Element] = []
        self.texts: list[list[str]] = []
        self.root: Element | None = None

    @property
    def line(self) -> int:
        return self._locator.getLineNumber() or 1 if self._locator else 1

    def startElement(self, name, attrs):  # noqa: N802
        element = Element(name, dict(attrs.items()), f"{self.path}:{self.line}")
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        if len(self.open) >= MAX_DEPTH:
            raise element.error(f"elements are nested more than {MAX_DEPTH} deep")
        self.open.append(element)
        self.texts.append([])

    def characters(self, content):
        self.texts[-1].append(content)

    def endElement(self, name):  # noqa: N802
        self.open.pop().text = "".join(self.texts.pop()).strip()
