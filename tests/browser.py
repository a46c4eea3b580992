"""A browser that measures pages: what leaves its box, what is cut, where a number breaks.

Debian's ``chromium`` and ``chromium-driver``; where either is absent, tests that want one skip.
"""

import base64
import contextlib
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromedriver")

MEASURED = """
const found = [];
const told = (what, node) => found.push(what + ': ' + (node.textContent || '').trim().slice(0, 60));
const wide = document.documentElement.scrollWidth - window.innerWidth;
if (wide > 1) found.push('the page is ' + wide + ' px wider than its window');
const shown = node => {
  const style = getComputedStyle(node), box = node.getBoundingClientRect();
  return style.visibility !== 'hidden' && box.width > 0 && box.height > 0;
};
for (const box of document.querySelectorAll('.table')) {
  if (arguments[0] && box.scrollWidth > box.clientWidth + 1) told('a table loses columns', box);
}
for (const cell of document.querySelectorAll('td.number')) {
  if (!shown(cell) || !cell.firstChild) continue;
  const range = document.createRange();
  range.selectNodeContents(cell);
  const tops = new Set([...range.getClientRects()].map(one => Math.round(one.top)));
  if (tops.size > 1) told('a number breaks', cell);
}
for (const node of document.querySelectorAll('h1, h2, h3, p, li, td, th, dd, a')) {
  if (!shown(node) || node.closest('.table')) continue;
  if (node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).display !== 'inline')
    told('text leaves its box', node);
}
for (const drawn of document.querySelectorAll('figure svg')) {
  const edge = drawn.getBoundingClientRect();
  if (edge.right > window.innerWidth + 1) told('a figure leaves the page', drawn);
  if (edge.width === 0) continue;  // the other of two drawings
  for (const text of drawn.querySelectorAll('text')) {
    const box = text.getBoundingClientRect();
    if (box.width === 0) continue;
    if (box.left < edge.left - 2 || box.right > edge.right + 2 || box.top < edge.top - 2
        || box.bottom > edge.bottom + 2) told('a label leaves its figure', text);
    const size = parseFloat(getComputedStyle(text).fontSize) * edge.width
      / (drawn.viewBox.baseVal.width || edge.width);
    if (arguments[1] && size < arguments[1]) told('letters of ' + size.toFixed(1) + ' px', text);
  }
  const frame = drawn.parentElement;
  if (frame.scrollWidth > frame.clientWidth + 1) told('a figure scrolls', drawn);
  const boxes = [...drawn.querySelectorAll('text')]
    .filter(text => text.textContent.trim() && !['0', '0.85'].includes(text.getAttribute('opacity')))
    .map(text => [text, text.getBoundingClientRect()]).filter(([, box]) => box.width > 0);
  boxes.forEach(([text, a], place) => {
    for (const [other, b] of boxes.slice(place + 1)) {
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 2 && down > 4) told('labels overlap: ' + other.textContent.trim(), text);
    }
  });
}
for (const drawn of document.querySelectorAll('figure')) {
  const seen = [...drawn.querySelectorAll('.wide, .narrow')].filter(shown);
  if (drawn.querySelector('.narrow') && seen.length !== 1) told(seen.length + ' drawings', drawn);
}
return found;
"""
"""Returns what is wrong. Arguments: whether no table may scroll; the least letters of figures."""


@contextlib.contextmanager
def browser() -> Iterator[Any]:
    """Give a browser without a window, or skip."""
    webdriver = pytest.importorskip("selenium.webdriver")
    found = {name: shutil.which(name) for name in NAMES}
    if lacking := [name for name, path in found.items() if path is None]:
        pytest.skip(f"{' and '.join(lacking)} is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = found["chromium"]
    for each in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(each)
    service = webdriver.ChromeService(executable_path=found["chromedriver"])
    from selenium.common.exceptions import WebDriverException

    try:
        driver = webdriver.Chrome(options=options, service=service)
    except WebDriverException as error:
        pytest.skip(f"the browser does not start here: {error.msg}")
    try:
        yield driver
    finally:
        driver.quit()


def measured(driver: Any, page: Path, *, width: int, media: str = "screen") -> list[str]:
    """Return what is wrong with a page in a window of that width, in CSS pixels.

    Args:
        driver: The browser.
        page: The file.
        width: Of the window, or of the paper without its margins.
        media: "screen" or "print"; on paper nothing scrolls, and figures keep 8 points; on the
            screen of a telephone they keep 11 pixels.
    """
    paper = media == "print"
    metrics: Mapping[str, Any] = {
        "width": width,
        "height": 1000,
        "deviceScaleFactor": 1,
        "mobile": width < 500,
    }
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media})
    driver.get(page.as_uri())
    least = 8 * 96 / 72 if paper else 11 if width < 500 else 0
    found: list[str] = driver.execute_script(MEASURED, paper, least)
    return found


def printed_pages(driver: Any, page: Path) -> int:
    """Return on how many sheets of A4 a page is printed."""
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    driver.get(page.as_uri())
    size = {"paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": False}
    printed = driver.execute_cdp_cmd("Page.printToPDF", size)
    return len(re.findall(rb"/Type\s*/Page[^s]", base64.b64decode(printed["data"])))
