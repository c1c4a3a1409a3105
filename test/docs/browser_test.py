#!/usr/bin/env python3
"""Tests failed starts of chromedriver. The test plays Selenium, so it does not need it."""
import contextlib
import io
import pathlib
import sys
import types
import unittest


class WebDriverException(Exception):
    def __init__(self, msg):
        super().__init__(msg)
        self.msg = msg


def play(name, **names):
    sys.modules[name] = types.SimpleNamespace(**names)
    return sys.modules[name]


webdriver = play("selenium.webdriver", Chrome=None)
play("selenium", webdriver=webdriver)
play("selenium.common.exceptions", WebDriverException=WebDriverException)
play("selenium.webdriver.chrome.service", Service=lambda path: path)
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402

TAKEN = "Service /usr/bin/chromedriver unexpectedly exited. Status code was: 1"


class Starts(unittest.TestCase):
    def start(self, *failures):
        """Starts a browser whose driver first fails in this way; returns the outcome."""
        self.tries = 0

        def chrome(options, service):
            self.tries += 1
            if self.tries <= len(failures):
                raise WebDriverException(failures[self.tries - 1])
            return f"{options} by {service}"

        webdriver.Chrome = chrome
        with contextlib.redirect_stdout(io.StringIO()) as said:
            try:
                return browser.started("options")
            finally:
                self.said = said.getvalue().splitlines()

    def test_it_starts_at_the_first_try(self):
        self.assertEqual(self.start(), "options by /usr/bin/chromedriver")
        self.assertEqual((self.tries, self.said), (1, []))

    def test_a_taken_port_is_retried_and_reported(self):
        self.assertEqual(self.start(TAKEN, TAKEN), "options by /usr/bin/chromedriver")
        self.assertEqual((self.tries, len(self.said)), (3, 2))
        self.assertIn(TAKEN, self.said[0])

    def test_the_last_permitted_try_may_succeed(self):
        self.assertTrue(self.start(*[TAKEN] * (browser.STARTS_MAX - 1)))
        self.assertEqual(self.tries, browser.STARTS_MAX)

    def test_after_the_last_try_the_error_is_raised(self):
        with self.assertRaisesRegex(WebDriverException, TAKEN):
            self.start(*[TAKEN] * browser.STARTS_MAX)
        self.assertEqual(self.tries, browser.STARTS_MAX)

    def test_another_error_is_raised_at_once(self):
        with self.assertRaisesRegex(WebDriverException, "no chrome binary"):
            self.start("no chrome binary at /usr/bin/chromium")
        self.assertEqual((self.tries, self.said), (1, []))


if __name__ == "__main__":
    unittest.main()
