"""Drives Debian's Chromium without a screen, for the tests of pages."""
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service

STARTS_MAX = 5


def open_browser(profile, window="1280,900", seconds_max=20):
    """Returns a browser that records console and requests. `profile`: an own empty folder."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     f"--window-size={window}", f"--user-data-dir={profile}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = started(options)
    browser.set_page_load_timeout(seconds_max)
    browser.set_script_timeout(seconds_max)
    return browser


def started(options):
    """Starts the driver, with retries. Selenium selects a free port before the driver binds it. If
    another test takes the port in between, the driver exits."""
    for attempt in range(1, STARTS_MAX + 1):
        try:
            return webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        except WebDriverException as error:
            if attempt == STARTS_MAX or "unexpectedly exited" not in str(error):
                raise
            print(f"chromedriver did not start, attempt {attempt} of {STARTS_MAX}: {error.msg}")
    return None
