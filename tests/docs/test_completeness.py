"""What exists is documented: each statistic, mechanism, error, key and command has its heading."""

import importlib.util
import inspect
import re

import pytest

import confide.errors
from confide.files.schema import FILES
from confide.files.texts import Section
from confide.statistics import STATISTICS
from pages import DOCS, PAGES, ROOT, blocks, headings, name_of

REFERENCE = DOCS / "reference"


def _generate():
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _sections(model, seen=None):
    """Every section below a file's model, itself included."""
    seen = {} if seen is None else seen
    if model.__name__ in seen:
        return seen
    seen[model.__name__] = model
    for field in model.model_fields.values():
        _follow(field.annotation, seen)
    return seen


def _follow(annotation, seen):
    if inspect.isclass(annotation) and issubclass(annotation, Section):
        _sections(annotation, seen)
    for part in getattr(annotation, "__args__", ()):
        _follow(part, seen)


def _keys(model):
    return [field.alias or name.replace("_", "-") for name, field in model.model_fields.items()]


@pytest.mark.parametrize("kind", sorted(STATISTICS))
def test_each_statistic_has_a_page_with_the_same_headings(kind):
    page = REFERENCE / "statistics" / f"{kind}.md"
    assert page.exists(), f"docs/reference/statistics/{kind}.md is missing"
    wanted = ["Contribution", "Sensitivity", "Estimator", "Interval", "Example", "Limits"]
    assert [h for h in headings(page) if h in wanted] == wanted
    languages = {block.language for block in blocks(page)}
    assert {"python", "yaml"} <= languages, "an example in Python and one in YAML"


def test_each_mechanism_has_a_heading():
    from confide.noise.mechanism import Mechanism

    page = headings(REFERENCE / "mechanisms.md")
    for kind in Mechanism.__args__:
        assert f"`{kind.__name__}`" in page


def test_each_error_has_a_heading():
    page = headings(REFERENCE / "errors.md")
    for name, found in vars(confide.errors).items():
        if inspect.isclass(found) and issubclass(found, confide.errors.ConfideError):
            assert f"`{name}`" in page, f"{name} is not in errors.md"


def test_no_heading_of_the_errors_page_is_of_an_error_that_is_gone():
    for heading in headings(REFERENCE / "errors.md")[1:]:
        assert hasattr(confide.errors, heading.strip("`"))


@pytest.mark.parametrize("name", sorted(FILES))
def test_each_key_of_a_file_is_in_its_reference(name):
    text = (REFERENCE / f"{name}.md").read_text("utf-8")
    for model in _sections(FILES[name]).values():
        for key in _keys(model):
            assert f"`{key}`" in text, f"{key} of {model.__name__}"


@pytest.mark.parametrize("name", sorted(FILES))
def test_every_choice_of_a_file_is_in_the_reference(name):
    text = (REFERENCE / f"{name}.md").read_text("utf-8")
    schema = _generate().json_schema(name)
    found = re.findall(r'"enum": (\[[^\]]*\])', str(schema).replace("'", '"'))
    assert found
    for choices in found:
        for word in re.findall(r'"([^"]+)"', choices):
            assert f"`{word}`" in text, f"choice {word!r}"


def test_the_written_schemas_are_those_of_the_models():
    for path, text in _generate().schemas().items():
        written = (DOCS / path).read_text("utf-8")
        assert written == text, f"docs/{path} is stale: run `make docs`"


def test_each_command_is_on_the_page_and_its_help_is_what_it_prints():
    generate = _generate()
    page = (REFERENCE / "cli.md").read_text("utf-8")
    for command in generate.commands():
        heading = " ".join(["confide", *command])
        assert f"`{heading}`" in headings(REFERENCE / "cli.md"), f"{heading} has no heading"
        assert f"<!-- help: {heading} -->" in page
    assert generate.with_help(page) == page, "docs/reference/cli.md is stale: run `make docs`"


def test_the_schemas_accept_the_files_of_the_pages_and_refuse_an_unknown_key():
    import jsonschema
    import yaml

    names = (
        "tutorials/first-release",
        "tutorials/synthetic-tables",
        "how-to/write-a-policy",
        "how-to/write-legal-documents",
        "how-to/link-two-tables",
    )
    shown = [block for name in names for block in blocks(DOCS / f"{name}.md") if block.title]
    files = {block.title: yaml.load(block.text, yaml.BaseLoader) for block in shown}
    for name in FILES:
        schema = _generate().json_schema(name)
        value = files[f"{name}.yaml"]
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(value, schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(value | {"colour": "blue"}, schema)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_inside_the_documentation_leads_somewhere(page):
    text = page.read_text("utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        to = (page.parent / path).resolve() if path else page
        assert to.exists(), f"{target} leads nowhere"
        if anchor and to.suffix == ".md":
            assert anchor in {_anchor(h) for h in headings(to)}, f"{target}: no such heading"


def _anchor(heading):
    words = re.sub(r"[^\w\- ]", "", heading.lower())
    return words.replace(" ", "-")


def test_every_page_but_the_readme_can_be_reached_from_the_readme():
    reached, todo = set(), [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        if page in reached or not page.exists():
            continue
        reached.add(page)
        for target in re.findall(r"\]\(([^)\s#]+\.md)", page.read_text("utf-8")):
            todo.append((page.parent / target).resolve())
    assert not [name_of(page) for page in PAGES if page not in reached]


def test_the_readme_is_short_and_begins_with_a_figure():
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    assert len(lines) <= 150
    figure = next(place for place, line in enumerate(lines) if line.startswith("!["))
    assert figure < next(place for place, line in enumerate(lines) if line.startswith("## "))


def test_every_test_that_the_pages_name_exists():
    tests = "\n".join(p.read_text("utf-8") for p in (ROOT / "tests").rglob("*.py"))
    for page in PAGES:
        for name in re.findall(r"`(test_\w+)`", page.read_text("utf-8")):
            known = f"def {name}(" in tests or any((ROOT / "tests").rglob(f"{name}.py"))
            assert known, f"{name_of(page)} names {name}, which does not exist"


def test_texts_name_only_what_can_be_installed_from_a_clone():
    """No distribution of this name is on a registry: extras are installed from the folder."""
    code = (each for folder in ("src", "benchmarks") for each in (ROOT / folder).rglob("*.py"))
    wrong = re.compile(r"""install ["']?confide\b""")
    texts = (*PAGES, *sorted(code))
    assert [str(page) for page in texts if wrong.search(page.read_text("utf-8"))] == []


def test_the_citation_names_the_version_that_is_installed():
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {confide.__version__}\n" in citation


def test_the_readme_says_how_many_kinds_of_statistic_there_are():
    from confide.statistics.registry import KINDS

    told = (ROOT / "README.md").read_text("utf-8")
    assert f"{len(KINDS)} kinds on a closed menu" in told


def test_the_index_links_every_page():
    index = (DOCS / "index.md").read_text()
    pages = [page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")]
    of_study = {page for page in pages if page.startswith("reference/statistics/")}
    assert [p for p in pages if p not in of_study | {"index.md"} and f"({p})" not in index] == []
