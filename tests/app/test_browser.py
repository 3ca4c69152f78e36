"""The web page in a real browser: live numbers, bad input, downloads, accessibility, safety."""

import csv
import json
import re
import threading

import pytest

from skuncertain import ConfusionCounts, compare, compare_paired, required_sample_size

pytest.importorskip("flask")
pytest.importorskip("playwright")
pytest.importorskip("axe_playwright_python")

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

from skuncertain.app import create_app
from skuncertain.app._server import listen, make_server

WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
PATHS = ("/", "/compare", "/plan")
expect.set_options(timeout=60_000)  # a slow machine is no failure
EVIL = "<img src=x onerror=\"document.title='hacked'\"><script>document.title='hacked'</script>"


@pytest.fixture(scope="module")
def url():
    """Address of the running page."""
    app = create_app(workers=2)
    with listen("127.0.0.1", 0) as sock:
        server = make_server(sock, app)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.port}"
        server.shutdown()
        thread.join()
        server.server_close()
    app.extensions["skuncertain"].pool.close()


@pytest.fixture(scope="module")
def browser(chromium):
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def visit(browser, url):
    """Open a page; afterwards nothing was asked of other hosts and nothing went wrong in it."""
    contexts, asked, problems = [], [], []

    def open_page(path="/", viewport=WIDE, allowed=(), **options):
        context = browser.new_context(viewport=viewport, accept_downloads=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "console",
            lambda message: (
                problems.append(message.text)
                if message.type == "error" and not any(part in message.text for part in allowed)
                else None
            ),
        )
        page.goto(url + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []
    assert [one for one in asked if not one.startswith((url + "/", "data:,", "blob:"))] == []


def shown(page, name):
    return page.locator(f"#out-{name}")


def span(interval, digits=3):
    return f"{interval.low:.{digits}f} to {interval.high:.{digits}f}"


def fill(page, **texts):
    for name, text in texts.items():
        page.fill(f"#{name}", text)


def sideways(page):
    """How much wider the content is than the window."""
    return page.evaluate(
        "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )


def test_counts_become_an_interval(visit):
    page = visit()
    fill(page, tp="3", fn="1", fp="1", tn="1")
    other = ConfusionCounts.from_binary(tp=3, fn=1, fp=1, tn=1)
    expect(shown(page, "span")).to_contain_text(span(other.posterior("recall").interval()))
    fill(page, tp="26", fn="0", fp="2", tn="6")
    counts = ConfusionCounts.from_binary(tp=26, fn=0, fp=2, tn=6)
    expect(shown(page, "span")).to_contain_text(span(counts.posterior("recall").interval()))
    expect(shown(page, "value")).to_have_text("1.000")
    expect(shown(page, "sentence")).to_have_text(
        "Recall 1.00, 95 % credible interval 0.87–1.00, Jeffreys prior with calibrated ends, "
        "n = 26."
    )
    for name in ("precision", "f1", "balanced_accuracy"):
        page.select_option("#metric", name)
        expect(shown(page, "span")).to_contain_text(span(counts.posterior(name).interval()))
    page.select_option("#kind", "hdi")
    page.select_option("#prior", "jeffreys")
    posterior = counts.posterior("balanced_accuracy", prior="jeffreys")
    expect(shown(page, "span")).to_contain_text(span(posterior.interval(kind="hdi")))
    expect(page.locator("#metric-hint")).to_have_text(
        "= mean of the recalls; of two classes (recall + specificity) / 2"
    )
    assert page.locator("#out-pictures svg path.curve").count() == 1


def test_probability_predictive_and_prior_number(visit):
    page = visit()
    fill(page, low="0.8", high="0.95")
    counts = ConfusionCounts.from_binary(tp=26, fn=0, fp=2, tn=6)
    p = counts.posterior("recall").prob(0.8, 0.95)
    expect(shown(page, "facts")).to_contain_text(f"P(0.8 < recall < 0.95){p:.2f}")
    assert page.locator("#n_new").is_hidden()
    page.check("#show-predictive")
    fill(page, n_new="50")
    page.select_option("#metric", "accuracy")
    predictive = counts.posterior("accuracy").predictive(50)
    expect(shown(page, "span")).to_contain_text(span(predictive.interval()))
    assert page.locator("#pseudo").is_hidden()
    page.select_option("#prior", "number")
    fill(page, pseudo="3")
    predictive = counts.posterior("accuracy", prior=3.0).predictive(50)
    expect(shown(page, "span")).to_contain_text(span(predictive.interval()))


def test_prevalence_slider(visit):
    page = visit("/#metric=precision")
    counts = ConfusionCounts.from_binary(tp=26, fn=0, fp=2, tn=6)
    expect(shown(page, "span")).to_contain_text(span(counts.posterior("precision").interval()))
    assert page.locator("#slider").input_value() == "0.76"
    page.focus("#slider")
    page.keyboard.press("Home")
    expect(page.locator("#prevalence")).to_have_value("0.01")
    posterior = counts.posterior("precision", prevalence=0.01)
    expect(shown(page, "span")).to_contain_text(span(posterior.interval()))
    page.keyboard.press("ArrowRight")
    expect(page.locator("#prevalence")).to_have_value("0.02")
    page.click("#as-data")
    expect(shown(page, "span")).to_contain_text(span(counts.posterior("precision").interval()))


def test_bad_input_beside_the_field(visit):
    page = visit()
    result, message = page.locator("#result"), page.locator("#tp-error")
    for text in ("abc", "-3", "2.5", "1e12", "", "1000000000000"):
        fill(page, tp=text)
        expect(message).not_to_be_empty()
        expect(page.locator("#tp")).to_have_attribute("aria-invalid", "true")
        expect(result).to_be_hidden()
        expect(page.locator("#status")).to_contain_text("correct the marked fields")
        expect(page.locator(".download").first).to_be_disabled()
        assert shown(page, "sentence").text_content() == ""
        assert page.locator("#out-pictures svg").count() == 0
        beside, field = message.bounding_box(), page.locator("#tp").bounding_box()
        assert 0 <= beside["y"] - field["y"] - field["height"] < 20
        fill(page, tp="26")
        expect(message).to_be_empty()
        expect(result).to_be_visible()
        expect(page.locator(".download").first).to_be_enabled()
        assert page.locator("#tp").get_attribute("aria-invalid") is None


def test_link_restores_the_state(visit, url):
    page = visit()
    fill(page, tp="7", low="0.5")
    page.select_option("#metric", "f1")
    counts = ConfusionCounts.from_binary(tp=7, fn=0, fp=2, tn=6)
    expect(shown(page, "span")).to_contain_text(span(counts.posterior("f1").interval()))
    expect(page).to_have_url(re.compile(r"#.*tp=7&.*metric=f1"))
    other = visit(page.url.removeprefix(url))
    expect(other.locator("#tp")).to_have_value("7")
    expect(shown(other, "sentence")).to_have_text(shown(page, "sentence").text_content())
    expect(shown(other, "facts")).to_have_text(shown(page, "facts").text_content())


def test_positive_class_is_chosen_from_the_classes_of_the_table(visit, url):
    page = visit()
    page.check("#source-rows")
    rows = "ill,ill\n" * 30 + "well,ill\n" * 7 + "ill,well\n" * 3 + "well,well\n" * 20
    page.fill("#csv", "y,yhat\n" + rows)
    expect(page.locator("#pos_label-error")).to_contain_text("Choose the positive class: ill, well")
    expect(page.locator("#result")).to_be_hidden()
    assert page.locator("#pos_label option").all_text_contents() == ["by the labels", "ill", "well"]
    page.select_option("#pos_label", "well")
    expect(shown(page, "title")).to_have_text("Recall of the class well")
    expect(shown(page, "value")).to_have_text("0.741")
    expect(page).to_have_url(re.compile(r"#.*pos_label=well"))
    other = visit(page.url.removeprefix(url))
    expect(shown(other, "sentence")).to_have_text(shown(page, "sentence").text_content())
    expect(other.locator("#pos_label")).to_have_value("well")
    page.fill("#csv", "y,yhat\n" + rows.replace("well", "dead"))
    expect(page.locator("#pos_label-error")).to_contain_text("not one of the labels")
    page.select_option("#pos_label", "dead")
    expect(shown(page, "title")).to_have_text("Recall of the class dead")
    expect(page.locator("#pos_label option")).to_have_text(["by the labels", "dead", "ill"])


def test_link_with_nonsense(visit):
    page = visit("/#tp=%3Cscript%3E&metric=nothing&unknown=1&source=rows&csv=%3Cb%3E")
    expect(page.locator("#true-error")).to_contain_text("Name a column of the table: '<b>'")
    expect(page.locator("#metric")).to_have_value("recall")
    page.check("#source-counts")
    expect(page.locator("#tp-error")).to_contain_text("digits")


def test_late_answers_are_dropped(visit):
    page = visit()
    held, release = [], threading.Event()

    def hold(route):
        held.append(route)  # the first request hangs, later ones pass
        if len(held) > 1:
            route.continue_()

    page.route("**/answer/one", hold)
    with page.expect_request("**/answer/one"):
        fill(page, tp="1")
    fill(page, tp="9")
    page.wait_for_timeout(400)
    assert shown(page, "value").text_content() == "1.000"  # the old answer, not half of a new one
    held[0].continue_()
    counts = ConfusionCounts.from_binary(tp=9, fn=0, fp=2, tn=6)
    expect(shown(page, "span")).to_contain_text(span(counts.posterior("recall").interval()))
    assert len(held) == 2
    release.set()


def test_program_that_has_ended(visit):
    page = visit(allowed=("ERR_FAILED",))
    page.route("**/answer/one", lambda route: route.abort())
    fill(page, tp="1")
    expect(page.locator("#status")).to_contain_text("does not answer")
    expect(page.locator("#result")).to_be_hidden()


def test_rows_and_hostile_labels(visit, tmp_path):
    page = visit()
    page.check("#source-rows")
    quoted = EVIL.replace('"', '""')
    rows = f'"{quoted}",ok\n' * 3 + f'"{quoted}","{quoted}"\n' * 9 + "ok,ok\n" * 8
    page.fill("#csv", "y,yhat\n" + rows)
    page.select_option("#pos_label", EVIL)
    page.select_option("#metric", "accuracy")
    expect(shown(page, "value")).to_have_text("0.850")
    expect(shown(page, "tables")).to_contain_text(EVIL)
    page.select_option("#metric", "recall")
    expect(shown(page, "sentence")).to_contain_text(f"Recall of the class {EVIL} 0.75")
    assert page.title() == "One classifier · skuncertain"
    assert page.locator("#result img, #result script").count() == 0
    file = tmp_path / "rows.csv"
    file.write_text("truth,said\n" + "1,1\n" * 30 + "1,0\n" * 10 + "0,0\n" * 5)
    page.set_input_files("#file", file)
    expect(page.locator("#csv")).to_have_value(re.compile("truth,said"))
    page.select_option("#pos_label", "")  # two columns need no names
    counts = ConfusionCounts.from_binary(tp=30, fn=10, fp=0, tn=5)
    expect(shown(page, "span")).to_contain_text(span(counts.posterior("recall").interval()))
    large = tmp_path / "large.csv"
    large.write_text("truth,said\n" + "1,1\n" * 600_000)
    page.set_input_files("#file", large)
    expect(page.locator("#csv-error")).to_contain_text("too large")
    latin = tmp_path / "latin.csv"
    latin.write_bytes("y,yhat\né,é\né,è\nè,è\n".encode("latin-1"))
    page.set_input_files("#file", latin)  # read as it is, both labels would be one
    expect(page.locator("#csv-error")).to_contain_text("not UTF-8")
    expect(page.locator("#result")).to_be_hidden()
    page.fill("#csv", "y,yhat\né,é\né,è\nè,è\n")
    page.select_option("#metric", "accuracy")
    expect(shown(page, "value")).to_have_text("0.667")


def test_two_classifiers(visit):
    page = visit("/compare")
    a = {"tp": 26, "fn": 0, "fp": 2, "tn": 6}
    b = {"tp": 20, "fn": 6, "fp": 1, "tn": 7}
    for prefix, cells in (("a_", a), ("b_", b)):
        fill(page, **{prefix + name: str(value) for name, value in cells.items()})
    page.select_option("#metric", "recall")
    fill(page, rope="0.05")
    result = compare(
        ConfusionCounts.from_binary(**a),
        ConfusionCounts.from_binary(**b),
        metric="recall",
        rope=0.05,
    )
    expect(shown(page, "span")).to_contain_text(span(result.difference.interval()))
    expect(shown(page, "facts")).to_contain_text(
        f"P(A better by more than 0.05){result.p_worse:.2f}"
    )
    assert page.locator("#out-pictures path.curve").count() == 2
    assert page.locator("#out-pictures path.area").count() == 3
    y, p, q = [1] * 30 + [0] * 30, [1] * 25 + [0] * 35, [1] * 28 + [0] * 30 + [1] * 2
    page.check("#source-rows")
    rows = "".join(f"{t},{u},{v}\n" for t, u, v in zip(y, p, q, strict=True))
    page.fill("#csv", "y,a,b\n" + rows)
    page.select_option("#metric", "accuracy")
    paired = compare_paired(y, p, q, rope=0.05)
    expect(shown(page, "span")).to_contain_text(span(paired.difference.interval()))
    expect(shown(page, "notes")).to_contain_text("same rows")


def test_sample_size(visit):
    page = visit("/plan")
    fill(page, width="0.06", expected="0.8", n="400")
    plan = required_sample_size(metric="recall", expected=0.8, width=0.06)
    expect(shown(page, "value")).to_have_text(f"{plan.n:,}")
    expect(shown(page, "facts")).to_contain_text(f"rule of thumb 4 / width²{plan.rule_n:,}")
    expect(shown(page, "facts")).to_contain_text("Width with N = 400, rule of thumb 2 / √N0.1")


def test_downloads(visit):
    page = visit()
    fill(page, tp="31")
    expect(shown(page, "sentence")).to_contain_text("n = 31")
    low, high = ConfusionCounts.from_binary(tp=31, fn=0, fp=2, tn=6).posterior("recall").interval()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download the table").click()
    assert waiting.value.suggested_filename == "skuncertain-recall.csv"
    with open(waiting.value.path(), encoding="utf-8", newline="") as file:
        first = next(csv.DictReader(file))
    assert (float(first["value_low"]), float(first["value_high"])) == pytest.approx((low, high))
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download the report").click()
    assert waiting.value.suggested_filename == "skuncertain-recall.html"
    with open(waiting.value.path(), encoding="utf-8") as file:
        assert f"1.000 [{low:.3f}, {high:.3f}]" in file.read()
    expect(shown(page, "sentence")).to_contain_text("n = 31")  # the page has stayed


def test_copy_buttons(visit):
    page = visit(permissions=["clipboard-read", "clipboard-write"])
    page.click("#copy")
    expect(page.locator("#copied")).to_have_text("Copied.")
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied == shown(page, "sentence").text_content()
    page.click("#copy-link")
    expect(page.locator("#copied")).to_have_text("Link copied.")
    assert "tp=26" in page.evaluate("() => navigator.clipboard.readText()")


def test_copy_where_it_is_not_allowed(visit):
    page = visit()
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error()); }")
    page.click("#copy")
    expect(page.locator("#copied")).to_contain_text("Ctrl-C")
    marked = page.evaluate("() => getSelection().toString()")
    assert marked.strip() == shown(page, "sentence").text_content().strip()


def test_without_script(visit, tmp_path):
    page = visit(java_script_enabled=False, allowed=("422",))
    assert page.locator("#slider, #copy").first.is_hidden()
    fill(page, tp="9")
    page.select_option("#metric", "precision")
    page.click("#calculate")
    counts = ConfusionCounts.from_binary(tp=9, fn=0, fp=2, tn=6)
    expect(shown(page, "span")).to_contain_text(span(counts.posterior("precision").interval()))
    expect(page.locator("#tp")).to_have_value("9")
    fill(page, tp="abc")
    page.click("#calculate")
    expect(page.locator("#tp-error")).to_contain_text("whole number")
    expect(page.locator("#tp")).to_have_value("abc")
    expect(page.locator("#result")).to_be_hidden()
    file = tmp_path / "rows.csv"
    file.write_text("y,yhat\n" + "1,1\n" * 30 + "1,0\n" * 10 + "0,0\n" * 5)
    page.check("#source-rows")
    page.set_input_files("#file", file)
    page.select_option("#metric", "recall")
    page.click("#calculate")
    expect(shown(page, "value")).to_have_text("0.750")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download the table").click()
    assert waiting.value.suggested_filename == "skuncertain-recall.csv"
    page.click("text=Two classifiers")
    page.click("#calculate")
    expect(page.locator("#result")).to_be_visible()


def test_keyboard_alone(visit):
    page = visit()
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.id") == "answer"
    assert "answer" not in page.url  # that part of the address holds the numbers
    page.goto(page.url)
    page.keyboard.press("Tab")
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("() => document.activeElement.id || document.activeElement.name"))
    wanted = {"source-counts", "tp", "fn", "fp", "tn", "metric", "low", "high", "prevalence"}
    assert wanted | {"slider", "level", "kind", "prior", "copy", "copy-link"} <= reached
    page.focus("#tp")
    page.keyboard.press("Control+A")
    page.keyboard.type("12")
    expect(shown(page, "sentence")).to_contain_text("n = 12")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
def test_accessible_at_two_widths(visit, path, viewport):
    for scheme in ("light", "dark"):
        page = visit(path, viewport, color_scheme=scheme)
        expect(page.locator("#result")).to_be_visible()
        found = [Axe().run(page)]
        assert sideways(page) <= 0
        if path != "/plan":
            page.check("#source-rows")
            expect(page.locator("#csv-error")).not_to_be_empty()
            found.append(Axe().run(page))
            assert sideways(page) <= 0
        for result in found:
            assert result.violations_count == 0, result.generate_report()


def test_axe_finds_what_is_wrong(visit):
    """The same harness complains about a page that is not accessible."""
    page = visit()
    page.evaluate("() => document.querySelector('label[for=tp]').remove()")
    assert Axe().run(page).violations_count > 0


@pytest.mark.parametrize("path", PATHS)
def test_the_answer_stays_in_sight_on_a_phone(visit, path):
    page = visit(path, PHONE)
    expect(page.locator(".headline")).to_be_in_viewport(ratio=1)
    page.locator("#level").focus()  # nothing that has the focus is under it
    page.locator("#level").scroll_into_view_if_needed()
    bar, field = page.locator(".headline").bounding_box(), page.locator("#level").bounding_box()
    assert field["y"] + field["height"] <= bar["y"]
    page.keyboard.press("Control+End")
    page.evaluate("() => scrollTo(0, document.body.scrollHeight)")
    button = page.get_by_role("button", name="Download the table").bounding_box()
    assert button["y"] + button["height"] <= page.locator(".headline").bounding_box()["y"]


def test_many_classes_on_a_phone(visit):
    page = visit(viewport=PHONE)
    page.check("#source-rows")
    labels = [f"a class with a rather long name {k}" for k in range(12)]
    page.fill("#csv", "y,yhat\n" + "".join(f"{name},{name}\n" * 3 for name in labels))
    page.select_option("#metric", "accuracy")
    expect(shown(page, "value")).to_have_text("1.000")
    assert sideways(page) <= 0


def test_other_sites_cannot_use_it(browser, url):
    """A page of another origin sends a form; the browser says so, and it is refused."""
    context = browser.new_context()
    page = context.new_page()
    page.route(
        "http://other.example/*",
        lambda route: route.fulfill(
            content_type="text/html",
            body=f'<form method="post" action="{url}/"><button>Send</button></form>',
        ),
    )
    page.goto("http://other.example/")
    with page.expect_response(f"{url}/") as waiting:
        page.click("button")
    assert waiting.value.status == 403
    context.close()


def test_what_is_out_of_date_is_not_waited_for(visit):
    """A request that takes long ends when something else has been asked."""
    page, held = visit(), []

    def hold_the_first(route):
        if held:
            route.continue_()
        else:
            held.append(route)  # it never gets an answer

    page.route("**/answer/one", hold_the_first)
    with page.expect_event("requestfailed") as ended:
        with page.expect_request("**/answer/one"):
            fill(page, tp="41")
        fill(page, tp="42")
    assert '"tp":"41"' in ended.value.post_data
    expect(page.locator("#out-tables")).to_contain_text("42")


def test_what_takes_too_long_is_told(visit):
    page = visit(allowed=("503",))
    text = "This takes more than 20 seconds, so the page has stopped it."
    body = json.dumps({"error": text})
    page.route("**/answer/one", lambda route: route.fulfill(status=503, body=body))
    fill(page, tp="41")
    expect(page.locator("#status")).to_have_text(text)
    expect(page.locator("#result")).to_be_hidden()
    page.unroute("**/answer/one")
    fill(page, tp="42")
    expect(page.locator("#result")).to_be_visible()
    expect(page.locator("#status")).to_have_text("")
