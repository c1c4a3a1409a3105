#!/usr/bin/env python3
"""Opens the tool's pages of machines in Debian's Chromium: machine_page_test.py VENV_PYTHON TOOL
[--shots FOLDER].

Covers `ringlet topo draw`, `plan draw` and `topo diff` with `-o x.html`, opened from the disk: the
paths shown by a pointer and the keyboard, hidden channels, two machines side by side, dark and
light. No page accesses the network. Without selenium in the environment of `./ringlet.sh site`, the
test is skipped with a message.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77
SOURCE = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = SOURCE / "test" / "fixtures"
DGX1 = FIXTURES / "topologies" / "nvidia" / "ucb_dgx1v.topo.xml"
NVSWITCH = FIXTURES / "topo-vectors" / "nvswitch8-sm90.xml"
TOOL = SHOTS = None  # set by main
SECONDS_MAX = 20

LIT = "return [...document.querySelectorAll('.machine')[arguments[0]].querySelectorAll('svg .lit')].length"
PANEL = "return document.querySelectorAll('.machine .path')[arguments[0]].textContent"


def run_again_with(python):
    """Runs with selenium's Python, or returns the status of a skipped test."""
    found = pathlib.Path(python).exists() and subprocess.run(
        [python, "-c", "import selenium"], capture_output=True, check=False).returncode == 0
    if not found:
        print(f"NOT RUN machine pages: {python} cannot import selenium: `./ringlet.sh site` makes that "
              "environment where PyPI can be reached.")
        sys.exit(SKIPPED)
    os.execv(python, [python, __file__, *sys.argv[2:]])


def tool(*words, status=0):
    ran = subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True, check=False, timeout=120)
    assert ran.returncode == status, f"{words}: {ran.returncode}: {ran.stderr}"
    return ran.stdout


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.browser = open_browser(cls.folder / "profile", "1400,1100", seconds_max=SECONDS_MAX)
        sick = NVSWITCH.read_text(encoding="utf-8")
        at = sick.rindex('link_width="16"', 0, sick.index("<gpu"))
        cls.sick = cls.folder / "sick.xml"
        cls.sick.write_text(sick[:at] + 'link_width="4"' + sick[at + len('link_width="16"'):], encoding="utf-8")

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        cls.scratch.cleanup()

    def tearDown(self):
        self.assertEqual(self.complaints(), [])

    def page(self, *words, status=0):
        path = self.folder / "page.html"
        tool(*words, "-o", path, status=status)
        self.browser.get(path.as_uri())

    def complaints(self):
        """Returns the messages of the browser's console, and requests for anything but the page."""
        said = [entry["message"] for entry in self.browser.get_log("browser")]
        for entry in self.browser.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                if not url.startswith((self.folder.as_uri(), "data:", "chrome:", "chrome-untrusted:", "about:")):
                    said.append(f"a request: {url}")
        return said

    def shot(self, name):
        if SHOTS:
            self.browser.save_screenshot(str(SHOTS / f"{name}.png"))

    def lit(self, machine=0):
        return self.browser.execute_script(LIT, machine)

    def panel(self, machine=0):
        return self.browser.execute_script(PANEL, machine)

    def cell(self, start, end):
        return self.browser.find_element(
            By.CSS_SELECTOR, f"td button[aria-label^='{start} to {end}:']")

    def point(self, element):
        self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        ActionChains(self.browser).move_to_element(element).perform()

    def box(self, start):
        return self.browser.find_element(By.CSS_SELECTOR, f"svg [data-node][aria-label^='{start}']")

    def test_hovering_over_a_pair_shows_the_path_of_the_tool(self):
        self.page("topo", "draw", DGX1)
        self.assertEqual(self.lit(), 0)
        self.point(self.cell("GPU0", "GPU5"))
        self.assertEqual(self.panel(), tool("topo", "path", "GPU0", "GPU5", DGX1))
        self.assertGreaterEqual(self.lit(), 3)
        self.point(self.browser.find_element(By.TAG_NAME, "h1"))
        self.assertEqual(self.lit(), 0)

    def test_a_click_keeps_a_path_and_escape_clears_it(self):
        self.page("topo", "draw", DGX1)
        cell = self.cell("GPU1", "GPU6")
        self.point(cell)
        cell.click()
        self.point(self.browser.find_element(By.TAG_NAME, "h1"))
        self.assertGreaterEqual(self.lit(), 3)
        self.browser.execute_script("scrollTo(0, 0)")
        self.shot("path")
        cell.send_keys(Keys.ESCAPE)
        self.browser.execute_script("document.activeElement.blur()")
        self.assertEqual(self.lit(), 0)

    def test_arrow_keys_move_between_pairs(self):
        self.page("topo", "draw", DGX1)
        self.browser.execute_script("arguments[0].focus()", self.cell("GPU0", "GPU1"))
        self.browser.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
        self.assertTrue(self.panel().startswith("GPU0 to GPU2: "), self.panel())
        self.browser.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
        self.assertTrue(self.panel().startswith("GPU1 to GPU2: "), self.panel())

    def test_a_selected_and_a_hovered_box_show_their_path(self):
        self.page("topo", "draw", DGX1)
        self.point(self.box("GPU 0"))
        self.assertTrue(self.panel().startswith("GPU 0, "), self.panel())
        self.browser.execute_script("arguments[0].focus()", self.box("GPU 0"))
        self.browser.switch_to.active_element.send_keys(Keys.ENTER)
        self.point(self.box("GPU 3"))
        self.assertEqual(self.panel(), tool("topo", "path", "GPU0", "GPU3", DGX1))

    def test_channels_can_be_hidden_and_shown(self):
        self.page("plan", "draw", NVSWITCH, "--hosts", 2, "--policy", "compat")
        # A channel of several hosts has one line for each host.
        shown = lambda: sorted(set(self.browser.execute_script(
            "return [...document.querySelectorAll('svg [data-group]')].filter("
            "line => getComputedStyle(line).display !== 'none').map(line => line.dataset.group)")))
        before = shown()
        self.assertIn("ring 0", before)
        self.assertTrue(any(name.startswith("tree") for name in before))
        self.browser.find_element(By.CSS_SELECTOR, "[data-switch='ring 0']").click()
        self.assertEqual(sorted(shown()), sorted(name for name in before if name != "ring 0"))
        self.browser.find_element(By.CSS_SELECTOR, "[data-all=none]").click()
        self.assertEqual(shown(), [])
        self.browser.find_element(By.CSS_SELECTOR, "[data-switch='ring 1']").click()
        self.assertEqual(shown(), ["ring 1"])
        self.browser.execute_script("document.querySelector('.picture').scrollTop = 1e6")
        self.shot("channels")
        self.browser.find_element(By.CSS_SELECTOR, "[data-all=all]").click()
        self.assertEqual(shown(), before)

    def test_two_machines_do_not_overlap(self):
        self.page("topo", "diff", NVSWITCH, self.sick, status=1)
        sections = self.browser.find_elements(By.CSS_SELECTOR, ".machine")
        self.assertEqual(len(sections), 2)
        first, second = (section.rect for section in sections)
        beside = first["x"] + first["width"] < second["x"] + 1
        below = first["y"] + first["height"] < second["y"] + 1
        self.assertTrue(beside or below, (first, second))
        differences = self.browser.find_element(By.ID, "differences").text
        for sentence in tool("topo", "diff", NVSWITCH, self.sick, status=1).splitlines():
            self.assertIn(sentence, differences)
        button = sections[1].find_element(By.CSS_SELECTOR, "td button[aria-label^='GPU0 to GPU1:']")
        self.point(button)
        self.assertGreater(self.lit(1), 0)
        self.assertEqual(self.lit(0), 0)
        self.browser.execute_script("scrollTo(0, 0)")
        self.shot("two")

    def test_a_finding_highlights_its_box(self):
        self.page("topo", "draw", self.sick)
        item = self.browser.find_element(By.CSS_SELECTOR, ".findings li")
        self.assertIn("GPU0", item.text)
        self.point(item)
        self.assertEqual(self.lit(), 1)
        self.browser.execute_script("scrollTo(0, 0)")
        self.shot("finding")

    def test_the_page_follows_the_color_scheme_and_fits_the_window(self):
        self.page("topo", "draw", DGX1)
        ground = lambda: self.browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        fill = lambda: self.browser.execute_script(
            "return getComputedStyle(document.querySelector('svg [aria-label^=\"GPU 0\"]')).fill")
        seen = []
        for scheme in ("light", "dark"):
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
                "features": [{"name": "prefers-color-scheme", "value": scheme}]})
            seen.append((ground(), fill()))
            self.shot(scheme)
        self.assertNotEqual(seen[0][0], seen[1][0])
        self.assertNotEqual(seen[0][1], seen[1][1])
        self.assertNotIn("rgb(0, 0, 0)", seen[0] + seen[1], "every color is known")
        self.assertLessEqual(self.browser.execute_script(
            "return document.documentElement.scrollWidth - document.documentElement.clientWidth"), 0)
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})

    def test_names_from_files_are_escaped(self):
        evil = self.folder / "evil.xml"
        text = NVSWITCH.read_text(encoding="utf-8")
        at = text.index('name="', text.index("<net ")) + len('name="')
        evil.write_text(text[:at] + "&lt;img src=x onerror=alert(1)&gt;" + text[text.index('"', at):],
                        encoding="utf-8")
        self.page("topo", "draw", evil, "--title", "<script>alert(1)</script>")
        self.assertEqual(self.browser.find_elements(By.CSS_SELECTOR, "img, h1 script"), [])
        self.assertIn("<script>", self.browser.find_element(By.TAG_NAME, "h1").text)


if __name__ == "__main__":
    try:
        from browser import open_browser
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.by import By
        from selenium.webdriver.common.keys import Keys
    except ImportError:
        run_again_with(sys.argv[1])
    if pathlib.Path(sys.argv[1]).name.startswith("python"):
        del sys.argv[1]
    TOOL = pathlib.Path(sys.argv.pop(1)).resolve()
    if "--shots" in sys.argv:
        SHOTS = pathlib.Path(sys.argv.pop(sys.argv.index("--shots") + 1))
        sys.argv.remove("--shots")
    unittest.main()
