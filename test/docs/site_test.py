#!/usr/bin/env python3
"""Opens the site of docs/ in Debian's Chromium: site_test.py SITE_FOLDER [--shots FOLDER].

Walks the navigation, searches, checks the sizes of pictures and the targets of links, and reads the
browser's complaints. The site comes from a server on this machine; a request to another machine is
a failure. Run by the Python of build/site-venv.
"""
import functools
import http.server
import json
import pathlib
import sys
import tempfile
import threading
import unittest
import urllib.parse

from browser import open_browser
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

SITE = SHOTS = None  # set by main
SECONDS_MAX = 20  # longest wait before it counts as a hang

# Fetches every page reachable from the first one, without drawing them all.
CRAWL = """
const done = arguments[0], pages = {}, images = {};
const width = url => new Promise(resolve => {
  const image = new Image();
  image.onload = () => resolve(image.naturalWidth);
  image.onerror = () => resolve(0);
  image.src = url;
});
const look = async path => {
  const answer = await fetch(path);
  const text = await answer.text();
  const page = new DOMParser().parseFromString(text, 'text/html');
  const absolute = name => element => new URL(element.getAttribute(name), location.origin + path);
  const urls = [...page.querySelectorAll('a[href]')].map(absolute('href'));
  for (const url of [...page.querySelectorAll('article img')].map(absolute('src')))
    images[url.pathname] ??= await width(url);
  const heading = page.querySelector('article h1');
  pages[path] = {
    status: answer.status, title: heading && heading.textContent,
    links: urls.filter(url => url.origin === location.origin).map(url => url.pathname + url.hash),
    names: [...page.querySelectorAll('[id]')].map(element => element.id),
  };
};
(async () => {
  for (let wave = ['/']; wave.length;) {
    await Promise.all(wave.map(look));
    const links = wave.flatMap(path => pages[path].links.map(link => link.split('#')[0]));
    wave = [...new Set(links)].filter(path => !(path in pages));
  }
  done({pages, images});
})().catch(error => done({error: String(error)}));
"""
# Content beyond the window's width requires scrolling.
OVERFLOW = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
SHOWN = ("/", "/performance/", "/pictures/", "/explanation/planner/", "/reference/topology/",
         "/tutorial/first-communicator/")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Quiet, directory=SITE))
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.root = f"http://127.0.0.1:{cls.server.server_port}"
        cls.profile = tempfile.TemporaryDirectory()
        cls.browser = open_browser(cls.profile.name, seconds_max=SECONDS_MAX)

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        cls.profile.cleanup()
        cls.server.shutdown()
        cls.server.server_close()

    def open(self, path):
        self.browser.get(self.root + path)

    def complaints(self):
        """Returns the browser's console messages, and requests that left this machine."""
        said = [entry["message"] for entry in self.browser.get_log("browser")]
        for entry in self.browser.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                # The browser's own pages, such as a new tab, only call the browser.
                own = ("data:", "blob:", "chrome:", "chrome-untrusted:", "about:")
                if not url.startswith((self.root, *own)):
                    said.append(f"a request leaves the machine: {url}")
        return said

    def shot(self, name):
        if SHOTS:
            self.browser.save_screenshot(str(SHOTS / f"{name}.png"))

    def test_every_page_is_reachable_and_every_link_works(self):
        self.open("/")
        found = self.browser.execute_async_script(CRAWL)
        self.assertNotIn("error", found)
        pages, images = found["pages"], found["images"]
        there = {f"/{path.parent.relative_to(SITE).as_posix()}/".replace("/./", "/")
                 for path in pathlib.Path(SITE).rglob("index.html")}
        self.assertEqual(there - set(pages), set())
        self.assertGreater(len(images), 3)
        self.assertEqual([path for path, width in images.items() if not width], [])
        for path, page in pages.items():
            with self.subTest(path):
                self.assertEqual(page["status"], 200)
                self.assertTrue(page["title"])
                for link in page["links"]:
                    target, _, name = link.partition("#")
                    if name:
                        self.assertIn(urllib.parse.unquote(name), pages[target]["names"], link)
        self.assertEqual(self.complaints(), [])

    def test_pages_fit_the_window_without_browser_errors(self):
        for path in SHOWN:
            with self.subTest(path):
                self.open(path)
                self.assertLessEqual(self.browser.execute_script(OVERFLOW), 0)
                self.assertEqual(self.complaints(), [])

    def test_the_navigation_leads_through_the_site(self):
        self.open("/")
        self.shot("home")
        tabs = [tab.text for tab in self.browser.find_elements(By.CSS_SELECTOR, ".md-tabs__link")]
        self.assertEqual(tabs, ["Home", "Tutorials", "How to", "Reference", "Explanation",
                                "Performance", "Pictures", "Contributing"])
        self.browser.find_element(By.LINK_TEXT, "Reference").click()
        WebDriverWait(self.browser, SECONDS_MAX).until(
            lambda browser: browser.find_element(By.CSS_SELECTOR, "article h1").text.startswith("C API"))
        self.browser.find_element(By.CSS_SELECTOR, ".md-nav--primary").find_element(
            By.LINK_TEXT, "Settings").click()
        WebDriverWait(self.browser, SECONDS_MAX).until(
            lambda browser: browser.find_element(By.CSS_SELECTOR, "article h1").text.startswith("Settings"))
        self.shot("reference")
        self.open("/pictures/")
        self.shot("pictures")

    def test_the_search_finds_a_word(self):
        self.open("/")
        self.browser.execute_script("document.querySelector('label[for=__search]').click()")
        field = self.browser.find_element(By.CSS_SELECTOR, "input.md-search__input")
        WebDriverWait(self.browser, SECONDS_MAX).until(lambda _: field.is_displayed())
        field.send_keys("heartbeat")
        hits = WebDriverWait(self.browser, SECONDS_MAX).until(
            lambda browser: browser.find_elements(By.CSS_SELECTOR, "a.md-search-result__link"))
        self.assertTrue(any("bootstrap" in hit.get_attribute("href") or
                            "settings" in hit.get_attribute("href") for hit in hits))
        self.shot("search")
        self.assertEqual(self.complaints(), [])


if __name__ == "__main__":
    SITE = sys.argv.pop(1)
    if "--shots" in sys.argv:
        SHOTS = pathlib.Path(sys.argv.pop(sys.argv.index("--shots") + 1))
        sys.argv.remove("--shots")
    unittest.main()
