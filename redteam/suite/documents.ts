import { crc32, deflateSync } from "node:zlib";

/**
 * A PDF of one page with this content; `catalog`, `info` and `more` are what else it has, in the format's own words.
 * Objects of `more` begin with 6.
 */
export function pdfOf(
  content: Buffer,
  {
    filter = "",
    catalog = "",
    info = "",
    more = [],
  }: { filter?: string; catalog?: string; info?: string; more?: readonly string[] } = {},
): Buffer {
  const objects = [
    `<</Type/Catalog/Pages 2 0 R ${catalog}>>`,
    "<</Type/Pages/Count 1/Kids[3 0 R]>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 99 99]/A<</S/URI/URI(file:///etc/passwd)>>>>]>>",
    Buffer.concat([Buffer.from(`<</Length ${content.length}${filter}>>stream\n`), content, Buffer.from("\nendstream")]),
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ...more,
    `<<${info}>>`,
  ].map((object, index) =>
    Buffer.concat([Buffer.from(`${index + 1} 0 obj`), Buffer.from(object), Buffer.from("\nendobj\n")]),
  );
  const head = Buffer.from("%PDF-1.7\n");
  let at = head.length;
  const places = objects.map(({ length }) => {
    at += length;
    return `${String(at - length).padStart(10, "0")} 00000 n \n`;
  });
  const count = objects.length + 1;
  const tail = `xref\n0 ${count}\n0000000000 65535 f \n${places.join("")}trailer<</Root 1 0 R/Info ${count - 1} 0 R/Size ${count}>>\nstartxref\n${at}\n%%EOF`;
  return Buffer.concat([head, ...objects, Buffer.from(tail)]);
}

/** A small PDF whose page is that long when it is unpacked twice. */
export function pdfBomb(bytes: number): Buffer {
  const packed = deflateSync(deflateSync(Buffer.alloc(bytes, " "), { level: 9 }), { level: 9 });
  return pdfOf(packed, { filter: "/Filter[/FlateDecode/FlateDecode]" });
}

/** An archive of these files, as they are. */
export function zipOf(files: Readonly<Record<string, string>>): Buffer {
  const entries: { readonly local: Buffer; readonly central: (at: number) => Buffer }[] = [];
  for (const [path, text] of Object.entries(files)) {
    const [name, content] = [Buffer.from(path), Buffer.from(text)];
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(content.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(name.length, 22);
    entries.push({
      local: Buffer.concat([Buffer.from("PK\u0003\u0004"), common, name, content]),
      central: (at) => {
        const rest = Buffer.alloc(14);
        rest.writeUInt32LE(at, 10);
        return Buffer.concat([Buffer.from("PK\u0001\u0002"), Buffer.from([20, 0]), common, rest, name]);
      },
    });
  }
  let at = 0;
  const central = entries.map((entry) => {
    at += entry.local.length;
    return entry.central(at - entry.local.length);
  });
  const end = Buffer.alloc(22);
  end.write("PK\u0005\u0006", "latin1");
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(Buffer.concat(central).length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...entries.map(({ local }) => local), ...central, end]);
}
