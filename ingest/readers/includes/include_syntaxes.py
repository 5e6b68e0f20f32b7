"""The ways in which pages include files: one function over the lines for each syntax.

Preprocessors (mdBook, MkDocs, Hugo, Jekyll, AsciiDoc) also include inside code; there a directive
counts only if it can be no example of its own syntax.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from ingest.readers.includes.shown_part import WHOLE, Include, Part, numbered

RST = re.compile(r"^(\s*+)\.\.\s++(?:([\w-]*include[\w-]*+)|csv-table|raw)::(.*)$")
RST_OPTION = re.compile(r"^\s++:([\w-]++):(.*)$")
MYST = re.compile(r"^\s*+(?:`{3,}+|~{3,}+|:{3,}+)\{([\w-]*include[\w-]*+)\}\s*+(.*)$")
MYST_OPTION = re.compile(r"^\s*+:?([\w-]++):(.*)$")
MDBOOK = re.compile(r"(?<!\\)\{\{#(\w*include|play\w++)\s++([^\s{}]++)[^{}]*+\}\}")
SNIPPET = re.compile(r"""^[ \t>]*+-++8<-++[ \t]++(?:"([^"]++)"|'([^']++)')""")
SNIPPETS = re.compile(r"^[ \t>]*+-++8<-++[ \t]*+$")
BANG = re.compile(r"\{!>?\s*+([^\s!{}]++)[^{}]*?!\}")
LIQUID = re.compile(r"""\{%-?\s*+(include[\w-]*+)\s++("[^"%]*+"|'[^'%]*+'|[^\s%"']++)([^%]*+)%\}""")
SHORTCODE = re.compile(r"\{\{[<%]\s*+(\w[\w/.-]*+)([^{}]*+)\}\}")
ARGUMENT = re.compile(r"""(?:([\w-]++)\s*+=\s*+)?("[^"]*+"|'[^']*+'|[^\s"'=]++)""")
WIKI = re.compile(r"!\[\[([^\[\]|#\n]++)(?:#[^\[\]|\n]*+)?(?:\|[^\[\]\n]*+)?\]\]")
TEMPLATE = re.compile(r"\{\{:?([^{}|\n#<>]++)(?:\|[^{}]*+)?\}\}")
IMPORT = re.compile(r"""^import\s++([A-Z]\w*+)\s++from\s++["']([^"']++)["']""")
USE = re.compile(r"<([A-Z]\w*+)")
ASCIIDOC = re.compile(r"^include::([^\[\]]++)\[([^\]]*+)\]\s*+$")
ATTRIBUTE = re.compile(r"^:([\w-]++):\s++(.*)$")
ATTRIBUTE_USE = re.compile(r"\{([\w-]++)\}")
LIST_ATTRIBUTE = re.compile(r"""(?<![\w-])([\w-]++)\s*+=\s*+(?:"([^"]*+)"|([^,]*+))""")
MDX_TEXT = (".md", ".mdx")
PAGE_LANGUAGES = {"markdown", "md", "mdx", "rst", "rest", "asciidoc", "adoc", "jinja", "liquid"}
"""Languages of code, and suffixes of files, that show how a page is written."""
FENCE_LANGUAGE = re.compile(r"^[\s>]*+(?:`{3,}+|~{3,}+)\s*+\{?\.?([\w-]*+)")


@dataclass(slots=True)
class PageLines:
    """The lines in which directives are searched."""

    lines: Sequence[str]
    shown: Sequence[str]
    """The lines without comments."""
    code: dict[int, int]
    """Index of each line in code -> index of the first line of that code."""

    def is_code(self, index: int) -> bool:
        return index in self.code

    def may_include(self, index: int, target: str) -> bool:
        """Return True unless the line is a comment, or code that shows a page's own syntax."""
        if not self.shown[index].strip():
            return False
        if not self.is_code(index):
            return True
        language = FENCE_LANGUAGE.match(self.lines[self.code[index]])
        if language and language[1].lower() in PAGE_LANGUAGES:
            return False
        return target.rpartition(".")[2].lower() not in PAGE_LANGUAGES

    def preprocessed(
        self,
        index: int,
        target: str,
        part: Part = WHOLE,
        *,
        is_literal: bool = False,
        searches: bool = False,
        is_certain: bool = True,
    ) -> Iterator[Include]:
        """Yield an include that also works inside code."""
        if self.may_include(index, target):
            in_code = self.is_code(index)
            yield Include(
                index + 1,
                target,
                part,
                is_literal=is_literal or in_code,
                searches=searches,
                is_certain=is_certain and not in_code,
            )


def _rst(page: PageLines) -> Iterator[Include]:
    for index, line in enumerate(page.lines):
        match = RST.match(line)
        if not match or page.is_code(index) or not page.shown[index].strip():
            continue
        options = dict(_options(page.lines, index + 1, RST_OPTION))
        name, target = match[2], match[3].strip()
        if name is None:
            if file := options.get("file"):
                yield Include(index + 1, file, is_literal=True)
        elif target:
            yield _directive(index, name, target, options)


def _myst(page: PageLines) -> Iterator[Include]:
    for index, line in enumerate(page.lines):
        match = MYST.match(line)
        if match and match[2].strip() and not page.is_code(index):
            first = index + 1
            if page.lines[first : first + 1] == ["---"]:
                first += 1
            options = dict(_options(page.lines, first, MYST_OPTION))
            yield _directive(index, match[1], match[2].strip(), options)


def _options(
    lines: Sequence[str], start: int, pattern: re.Pattern[str]
) -> Iterator[tuple[str, str]]:
    for line in lines[start : start + 50]:
        option = pattern.match(line)
        if not option:
            return
        yield option[1], _bare(option[2].strip())


def _directive(index: int, name: str, target: str, options: dict[str, str]) -> Include:
    """An include of Sphinx or MyST with its options."""
    ranges = numbered(options.get("lines", ""))
    first, last = options.get("start-line", ""), options.get("end-line", "")
    if _is_number(first) or _is_number(last):
        ranges = (
            (int(first) if _is_number(first) else 0, int(last) if _is_number(last) else None),
        )
    parsers = [option for option in ("pyobject", "diff") if option in options]
    part = Part(
        start_at=options.get("start-at", ""),
        start_after=options.get("start-after", ""),
        end_at=options.get("end-at", ""),
        end_before=options.get("end-before", ""),
        ranges=ranges,
        unsupported=parsers[0] if parsers else "",
    )
    is_literal = "literal" in name or not options.keys().isdisjoint(("literal", "code"))
    return Include(index + 1, target, part, is_literal=is_literal, searches=target.startswith("/"))


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"-?\d{1,9}", text))


def _mdbook(page: PageLines) -> Iterator[Include]:
    for index, line in enumerate(page.lines):
        if "{{#" in line:
            for match in MDBOOK.finditer(line):
                target, part = _with_part(match[2])
                is_code = match[1] != "include"  # the others put a fence around the file
                yield from page.preprocessed(index, target, part, is_literal=is_code)


def _snippets(page: PageLines) -> Iterator[Include]:
    """MkDocs: one file behind the scissors, or several between two lines of scissors."""
    between = False
    for index, line in enumerate(page.lines):
        if SNIPPETS.match(line):
            between = not between
        elif match := SNIPPET.match(line):
            name = match[1] or match[2]
            # A lone number is the first line here, and the only one in mdBook.
            lone = re.fullmatch(r"[^:]++:\d++", name)
            target, part = _with_part(f"{name}:" if lone else name)
            yield from page.preprocessed(index, target, part, searches=True)
        elif between and (name := line.strip(" \t>")) and not name.startswith(";"):
            target, part = _with_part(name)
            yield from page.preprocessed(index, target, part, searches=True, is_certain=False)


def _with_part(text: str) -> tuple[str, Part]:
    """Split ``file:2:10``, ``file:1:3,5:6`` and ``file:region``."""
    target, colon, rest = text.partition(":")
    if not colon or rest.startswith("//"):
        return text, WHOLE
    if re.fullmatch(r"[\d:, -]*+", rest):
        return target, Part(ranges=numbered(rest))
    return target, Part(names=(rest,))


def _bangs(page: PageLines) -> Iterator[Include]:
    for index, line in enumerate(page.lines):
        if "{!" in line:
            for match in BANG.finditer(line):
                yield from page.preprocessed(index, match[1], searches=True, is_certain=False)


def _liquid(page: PageLines) -> Iterator[Include]:
    """Jekyll, Jinja and the include plug-ins of MkDocs; a tag may have several lines."""
    for index, match in _in_text(page, LIQUID):
        options = {name: _bare(value) for name, value in ARGUMENT.findall(match[3]) if name}
        part = Part(start_after=options.get("start", ""), end_before=options.get("end", ""))
        yield from page.preprocessed(
            index, _bare(match[2]), part, searches=True, is_certain=match[1] == "include-markdown"
        )


def _shortcodes(page: PageLines) -> Iterator[Include]:
    """Hugo and Quarto: a shortcode that includes, or any with a ``file``."""
    for index, match in _in_text(page, SHORTCODE):
        arguments = ARGUMENT.findall(match[2].strip(" \t\n%>"))
        named = {name: _bare(value) for name, value in arguments if name}
        includes = "include" in match[1] or "readfile" in match[1]
        positional = [_bare(value) for name, value in arguments if not name]
        target = named.get("file") or named.get("path") if includes else named.get("file")
        if includes and not target and positional:
            target = positional[0]
        if target:
            is_literal = not includes or named.get("code", "false") not in ("false", "")
            yield from page.preprocessed(
                index, target, is_literal=is_literal, searches=True, is_certain=False
            )


def _in_text(page: PageLines, pattern: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str]]]:
    text = "\n".join(page.lines)
    ends = list(accumulate(len(line) + 1 for line in page.lines))
    for match in pattern.finditer(text):
        yield bisect_right(ends, match.start()), match


def _wiki(page: PageLines) -> Iterator[Include]:
    for index, line in enumerate(page.lines):
        if "![[" in line and not page.is_code(index) and page.shown[index].strip():
            for match in WIKI.finditer(line):
                yield Include(index + 1, match[1].strip(), searches=True, is_certain=False)


def _templates(page: PageLines) -> Iterator[Include]:
    """MediaWiki: pages that are shown on others, where there are such pages."""
    for index, line in enumerate(page.lines):
        if "{{" in line and not page.is_code(index):
            for match in TEMPLATE.finditer(line):
                yield Include(index + 1, match[1].strip(), searches=True, is_certain=False)


def _imports(page: PageLines) -> Iterator[Include]:
    """MDX: text that is imported, where it is first used."""
    names: dict[str, str] = {}
    for index, line in enumerate(page.lines):
        if page.is_code(index):
            continue
        if match := IMPORT.match(line):
            names[match[1]] = match[2]
        elif names and "<" in line:
            for use in USE.finditer(line):
                path = names.pop(use[1], "")
                target = path.rpartition("!")[2].removeprefix("@site/")
                is_code = "raw-loader!" in path
                if is_code or target.lower().endswith(MDX_TEXT):
                    above = path.rpartition("!")[2].startswith("@site/")
                    yield Include(
                        index + 1, target, is_literal=is_code, searches=above, is_certain=False
                    )


def _asciidoc(page: PageLines) -> Iterator[Include]:
    attributes: dict[str, str] = {}
    in_comment = False
    for index, line in enumerate(page.lines):
        in_comment ^= line.rstrip() == "////"
        if in_comment:
            continue
        if (setting := ATTRIBUTE.match(line)) and not page.is_code(index):
            attributes[setting[1]] = setting[2].strip()
        elif match := ASCIIDOC.match(line):
            options = {n: quoted or bare for n, quoted, bare in LIST_ATTRIBUTE.findall(match[2])}
            tags = re.split("[;,]", options.get("tags") or options.get("tag") or "")
            part = Part(
                names=tuple(tag.strip() for tag in tags if tag.strip())[:50],
                ranges=numbered(options.get("lines", ""), ",;"),
            )
            unset = False

            def value(use: re.Match[str]) -> str:
                nonlocal unset
                unset = unset or use[1] not in attributes
                return attributes.get(use[1], f"{{{use[1]}}}")

            target = ATTRIBUTE_USE.sub(value, match[1].strip())
            yield Include(
                index + 1,
                target,
                part,
                is_literal=page.is_code(index),
                searches=unset,
                is_certain="opts=optional" not in match[2] and "%optional" not in match[2],
            )


def _bare(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


Syntax = Callable[[PageLines], Iterator[Include]]
SYNTAXES: dict[str, tuple[Syntax, ...]] = {
    "rst": (_rst,),
    "markdown": (_myst, _mdbook, _snippets, _bangs, _liquid, _shortcodes, _wiki, _imports),
    "asciidoc": (_asciidoc,),
    "wiki": (_templates,),
}
"""Syntax of a page -> the ways in which it includes."""
