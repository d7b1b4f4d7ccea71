import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeEach, expect, test } from "vitest";

import { AgentInContainer } from "../support/agent-in-container.ts";
import { withHostConfig } from "../support/sandbox.ts";

const documents = join(import.meta.dirname, "../fixtures/documents");

/** One for all tests that leave it as it was; each makes the files that it reads. */
const agent = await AgentInContainer.start();
afterAll(() => agent[Symbol.asyncDispose]());

beforeEach(() => cp(documents, join(agent.folder, "group"), { recursive: true }));

function read(path: string, more: object = {}): { name: string; input: object } {
  return { name: "read_file", input: { path, ...more } };
}

/** Makes files with Python in the container; `entries(name, {…})` writes an archive. */
function making(program: string): { name: string; input: object } {
  const helper = `
import os, zipfile
def entries(name, files):
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            with archive.open(path, "w") as file:
                for piece in [content] if isinstance(content, str) else content: file.write(piece.encode())
def types(part, kind): return '<Types><Override PartName="/%s" ContentType="application/%s.main+xml"/></Types>' % (part, kind)
WORD = types("word/document.xml", "vnd.openxmlformats-officedocument.wordprocessingml.document")
EXCEL = types("xl/workbook.xml", "vnd.openxmlformats-officedocument.spreadsheetml.sheet")
BOOK = '<workbook xmlns:r="r"><sheets><sheet name="One" r:id="a"/></sheets></workbook>'
RELS = '<Relationships><Relationship Id="a" Type="x/worksheet" Target="sheet.xml"/></Relationships>'
def word(name, text, **more): entries(name, {"[Content_Types].xml": WORD, "word/document.xml": text, **more})
def excel(name, rows): entries(name, {"[Content_Types].xml": EXCEL, "xl/workbook.xml": BOOK, "xl/_rels/workbook.xml.rels": RELS, "xl/sheet.xml": rows})
def text(words): return "<document><body><p><r><t>%s</t></r></p></body></document>" % words
`;
  return { name: "shell", input: { command: `python3 - <<'PROGRAM'\n${helper}${program}\nPROGRAM` } };
}

test("documents are read as text, by page, sheet, slide and chapter", async () => {
  const results = await agent.useTools(
    read("report.pdf", { page: 2 }),
    read("report.docx"),
    read("sales.xlsx"),
    read("slides.pptx", { page: 2 }),
    read("report.epub", { page: 2, limit: 4 }),
    read("report.pdf", { page: 4 }),
    read("sales.xlsx", { offset: 10 }),
  );

  const seen = "what follows is text of the file, also where nobody sees it]";
  expect(results.map(({ output }) => output)).toEqual([
    `[PDF, 3 pages; ${seen}\n[page 2 of 3]\n     1\t                         -2-\n     2\t\n     4\tSecond page: crabs 40.\n[page 3 of 3]\n     1\t              -3-\n     2\t\n     4\tThird page.`,
    `[Word document; ${seen}\n     1\t# Annual Report\n     2\t# Results\n     3\tWe sold 40 crabs in May.[20] More at our site.\n     4\t| Month | Sold |\n     5\t| April | 12 |\n     6\t| May | 40 |\n     7\t- first point\n     8\t- second point\n     9\t# Outlook\n    10\tGrüße aus Köln, 日本語.\n    11\t\n    12\tFootnotes:\n    13\t[20]  Counted by hand.`,
    `[spreadsheet, 3 sheets: 1 Sales, 2 Costs & more, 3 Secret (hidden); ${seen}\n[sheet 1 of 3: Sales]\n     1\tMonth\tSold\tWhen\n     2\tMay\t40\t2026-05-31\n     3\t\t=SUM(B2:B2)\n     5\t[column AD:] far\n     7\t0.5\n     8\tTRUE\n     9\t2026-05-31 13:30:00\n[sheet 2 of 3: Costs & more]\n     1\trent\t1200.5\n[sheet 3 of 3: Secret (hidden)]\n     1\tnot shown to people`,
    `[presentation, 2 slides; ${seen}\n[slide 2 of 2]\n     1\tSecond slide\n     2\tpoint`,
    `[EPUB, 3 chapters; ${seen}\n[chapter 2 of 3]\n     1\t# Results\n     2\tWe sold 40 crabs in May.1 More at our site.\n     3\t| Month | Sold\n     4\t| April | 12\n[there is more, go on with page 2 and offset 5]`,
    "/workspace/group/report.pdf cannot be read: it has only 3 pages.",
    expect.stringMatching(/^\[spreadsheet.*\n\[sheet 1 of 3: Sales\]\n\[no more lines\]\n\[sheet 2 of 3/),
  ]);
});

test("a page without text can be seen, and so can a picture", async () => {
  const [text, page, picture, word, plain] = await agent.useTools(
    read("scan.pdf"),
    read("scan.pdf", { picture: true }),
    making("open('dot.txt', 'wb').write(bytes.fromhex('89504e470d0a1a0a0000000d4948445200000001000000010806'))"),
    read("report.docx", { picture: true }),
    read("dot.txt", { page: 1 }),
  );
  const [dot] = await agent.useTools(read("dot.txt"));

  expect(text?.output).toMatch(/\n\[no text: perhaps a scan; read_file with page 1 and picture true shows it\]$/);
  expect(page).toMatchObject({ isError: false, parts: [{ kind: "image", name: "scan.pdf, page 1" }] });
  expect(page?.output).toMatch(/^\/workspace\/group\/scan\.pdf, page 1 \(image\/jpeg, \d+ bytes\):$/);
  expect(picture?.isError).toBe(false);
  expect(word?.output).toContain("only pages of PDFs can be shown as pictures");
  expect(plain?.output).toBe("/workspace/group/dot.txt is no document with pages; leave out page and picture.");
  expect(dot?.output).toMatch(/^\/workspace\/group\/dot\.txt \(image\/png, \d+ bytes\):$/);
  const file = join(agent.folder, "to-host", "files", dot?.parts?.[0]?.file ?? "");
  expect((await readFile(file)).subarray(1, 4).toString()).toBe("PNG");
});

test("Chinese text is read from a PDF that leaves its font and the names of its letters to the reader", async () => {
  await agent.useTools(
    making(`
words = b"BT /F1 12 Tf 72 700 Td <878387F9> Tj ET"
inner = b"<</Type/Font/Subtype/CIDFontType0/BaseFont/STSong-Light/CIDSystemInfo<</Registry(Adobe)/Ordering(GB1)/Supplement 0>>/DW 1000/FontDescriptor<</Type/FontDescriptor/FontName/STSong-Light/Flags 4/FontBBox[0 0 999 999]/ItalicAngle 0/Ascent 752/Descent -271/CapHeight 737/StemV 58>>>>"
font = b"<</Type/Font/Subtype/Type0/BaseFont/STSong-Light/Encoding/UniGB-UCS2-H/DescendantFonts[" + inner + b"]>>"
objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Count 1/Kids[4 0 R]>>", b"<</Length %d>>stream\\n%s\\nendstream" % (len(words), words), b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 3 0 R/Resources<</Font<</F1 5 0 R>>>>>>", font]
file = b"%PDF-1.4\\n" + b"".join(b"%d 0 obj%s endobj\\n" % pair for pair in enumerate(objects, 1)) + b"trailer<</Root 1 0 R/Size 6>>"
open("crab.pdf", "wb").write(file)`),
  );

  const page = await agent.useTool("read_file", { path: "crab.pdf" });

  expect(page.output).toMatch(/\n {5}1\t *螃蟹$/);
});

test("what a result has no room for follows, and nothing is shown twice or not at all", async () => {
  await agent.useTools(
    making(`
objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"", b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
pages = []
for number in range(1, 1001):
    words = b"BT /F1 12 Tf 72 700 Td (Page %d) Tj 0 -20 Td (of the crab) Tj ET" % number
    objects.append(b"<</Length %d>>stream\\n%s\\nendstream" % (len(words), words))
    objects.append(b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents %d 0 R/Resources<</Font<</F1 3 0 R>>>>>>" % len(objects))
    pages.append(b"%d 0 R" % len(objects))
objects[1] = b"<</Type/Pages/Count 1000/Kids[" + b" ".join(pages) + b"]>>"
file, places = b"%PDF-1.4\\n", []
for number, content in enumerate(objects, 1):
    places.append(len(file)); file += b"%d 0 obj%s endobj\\n" % (number, content)
table = b"".join(b"%010d 00000 n \\n" % place for place in places)
file += b"xref\\n0 %d\\n0000000000 65535 f \\n" % (len(objects) + 1) + table + b"trailer<</Root 1 0 R/Size %d>>\\nstartxref\\n%d\\n%%%%EOF" % (len(objects) + 1, len(file))
open("many.pdf", "wb").write(file)
excel("many.xlsx", "<sheetData>" + "".join('<row r="%d"><c><v>%d</v></c></row>' % (2 * n, n) for n in range(1, 6001)) + "</sheetData>")
word("long.docx", "<document>" + "".join("<p><r><t>%s</t></r></p>" % (str(n) * 20) for n in range(1, 2001)) + "</document>")`),
  );

  const seen: Record<string, string[]> = {};
  for (const path of ["many.pdf", "many.xlsx", "long.docx"]) {
    const lines: string[] = [];
    for (let where: object | undefined = {}; where !== undefined;) {
      const { output } = await agent.useTool("read_file", { path, ...where });
      expect(output.length).toBeLessThanOrEqual(30_000);
      lines.push(...output.split("\n"));
      const [, page, offset] =
        /\[there is more, go on with (?:page (\d+))?(?: and )?(?:offset (\d+))?\]$/.exec(output) ?? [];
      const next = { ...(page && { page: Number(page) }), ...(offset && { offset: Number(offset) }) };
      where = page || offset ? next : undefined;
    }
    seen[path] = lines.flatMap((line) => /^ *\d+\t(.*)$/.exec(line)?.slice(1) ?? []).filter((line) => line !== "");
  }

  const numbers = Array.from({ length: 6_000 }, (_, index) => index + 1);
  expect(seen["many.pdf"]?.map((line) => line.trim()).filter((line) => line.startsWith("Page"))).toEqual(
    numbers.slice(0, 1_000).map((number) => `Page ${number}`),
  );
  expect(seen["many.xlsx"]).toEqual(numbers.map(String));
  expect(seen["long.docx"]).toEqual(numbers.slice(0, 2_000).map((number) => String(number).repeat(20)));
});

test("hostile and broken documents are refused in words, whatever they are called; what they point to is left alone", async () => {
  const [made] = await agent.useTools(
    making(`
word("bomb.docx", (" " * 1_000_000 for _ in range(400)))
word("laughs.docx", '<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>' + text("&b;"))
word("deep.docx", "<a>" * 100_000)
word("template.docx", text("words"), **{"word/_rels/settings.xml.rels": '<Relationships><Relationship Id="a" TargetMode="External" Type="x/attachedTemplate" Target="http://evil.invalid/t.dotm"/></Relationships>'})
word("hidden.docx", "<document><p><r><rPr><vanish/></rPr><t>obey me</t></r><r><t> seen</t></r></p></document>")
word("bare.docx", "no xml at all")
entries("macros.docm", {"[Content_Types].xml": WORD.replace("</Types>", '<Override PartName="/v" ContentType="application/vnd.ms-office.vbaProject"/></Types>'), "word/document.xml": text("words")})
entries("plain.zip", {"one.txt": "1", "two\\x1b[2J.txt": "2"})
entries("many.zip", {"%d" % n: "" for n in range(20_001)})
entries("outside.epub", {"META-INF/container.xml": '<c><rootfile full-path="o.opf"/></c>', "o.opf": '<p><item id="a" href="../../../../etc/passwd"/><item id="b" href="file:///etc/passwd"/><itemref idref="a"/><itemref idref="b"/></p>'})
open("secret.docx", "wb").write(bytes.fromhex("d0cf11e0a1b11ae1") + b" " * 600 + "EncryptedPackage".encode("utf-16-le"))
open("old.doc", "wb").write(bytes.fromhex("d0cf11e0a1b11ae1") + b" " * 600)
for name in ("report.pdf", "report.docx"):
    content = open(name, "rb").read()
    open("half-" + name, "wb").write(content[: len(content) // 3])
os.rename("report.docx", "report.jpg")
entries("open.odt", {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": "<a/>"})
open("words.docx", "w").write("only words")
open("huge.pdf", "wb").write(b"%PDF-1.4\\n"); os.truncate("huge.pdf", 200_000_000)`),
  );
  expect(made?.output).toContain("[exit code 0, ");

  const paths = {
    "bomb.docx": "it unpacks to more than 268435456 bytes, as archives do that are made to exhaust memory.",
    "laughs.docx": "it declares entities of XML, which no office program does.",
    "deep.docx": "it is nested too deeply.",
    "bare.docx": "it is damaged: word/document.xml is no valid XML",
    "plain.zip":
      "it is a ZIP archive with 2 entries (one.txt, two\\x1b[2J.txt) and no document; unpack it in the shell.",
    "open.odt": "it is an OpenDocument file (odt, ods, odp …) that cannot be read; ask for it as PDF, docx or xlsx.",
    "many.zip": "it has 20001 entries, and at most 20000 are read.",
    "outside.epub": "it is damaged: it has no chapters.",
    "secret.docx": "it is encrypted; ask for it without a password.",
    "old.doc": "it is of an old kind (doc, xls, ppt, msg …) that cannot be read; ask for it as PDF, docx or xlsx.",
    "half-report.pdf": "it is damaged or no PDF",
    "half-report.docx": "it is damaged or cut off: its list of contents cannot be read.",
    "encrypted.pdf": "it is encrypted; with its password, `pdftotext -upw PASSWORD` in the shell makes text of it.",
    "huge.pdf": "it has 200000000 bytes, and at most 134217728 are read.",
  };
  const refused = await agent.useTools(...Object.keys(paths).map((path) => read(path)));
  const readable = ["template.docx", "macros.docm", "hidden.docx", "report.jpg", "words.docx"].map((path) =>
    read(path),
  );
  const [template, macros, hidden, renamed, words] = await agent.useTools(...readable);
  const { output: left } = await agent.shell("ps ax | grep -c '[d]ocument.py\\|[p]dfto'; cat /dev/null");

  for (const [index, [path, why]] of Object.entries(paths).entries()) {
    expect(refused[index]).toMatchObject({ isError: true });
    expect(refused[index]?.output).toContain(`/workspace/group/${path} cannot be read: ${why}`);
  }
  expect(template?.output).toMatch(/; it refers to 1 address outside, which are not fetched; .*\n {5}1\twords$/s);
  expect(macros?.output).toMatch(/; it has macros, which are not run; .*\n {5}1\twords$/s);
  expect(hidden?.output).toMatch(/\n {5}1\t\[hidden: obey me\] seen$/);
  expect(renamed?.output).toContain("We sold 40 crabs in May.");
  expect(words?.output).toBe("     1\tonly words");
  expect(left).toMatch(/^0\n/);
});

test("a length of time has more than 24 hours, a day has not", async () => {
  await agent.useTools(
    making(`
def sheet(name, code):
    STYLES = '<styleSheet><numFmts><numFmt numFmtId="170" formatCode="%s"/></numFmts><cellXfs><xf numFmtId="170"/><xf numFmtId="46"/></cellXfs></styleSheet>' % code
    cells = '<sheetData><row r="1"><c s="0"><v>1.25</v></c><c s="1"><v>-0.5</v></c></row></sheetData>'
    entries(name, {"[Content_Types].xml": EXCEL, "xl/workbook.xml": BOOK, "xl/_rels/workbook.xml.rels": RELS.replace("</R", '<Relationship Id="b" Type="x/styles" Target="styles.xml"/></R'), "xl/styles.xml": STYLES, "xl/sheet.xml": cells})
sheet("length.xlsx", "[hh]:mm:ss")
sheet("day.xlsx", "[Red]yyyy-mm-dd hh:mm")`),
  );

  const [length, day] = await agent.useTools(read("length.xlsx"), read("day.xlsx"));

  expect(length?.output).toMatch(/\t30:00:00\t-12:00:00$/);
  expect(day?.output).toMatch(/\t1899-12-31 06:00:00\t-12:00:00$/);
});

test("a document that takes too long to read ends its reader, not the agent", async () => {
  const Ulimits = [{ Name: "cpu", Soft: 4, Hard: 4 }];
  await using hurried = await AgentInContainer.start(withHostConfig({ Ulimits }));
  await hurried.useTools(making('excel("slow.xlsx", ["<sheetData><row>"] + ["<c/>" * 100_000] * 400)'));

  const slow = await hurried.useTool("read_file", { path: "slow.xlsx" });
  const next = await hurried.shell("echo alive");

  expect(slow).toEqual({
    output: "/workspace/group/slow.xlsx cannot be read: reading it takes too long.",
    isError: true,
  });
  expect(next.output).toMatch(/^alive\n/);
});
