/**
 * Light of Display P3 as light of sRGB, both with the white of D65: the product of the matrices that their primaries
 * give.
 */
const toSrgb = [
  [1.224_94, -0.224_94, 0],
  [-0.042_057, 1.042_057, 0],
  [-0.019_638, -0.078_636, 1.098_274],
] as const;
/** Both have the same curve. */
const light = Float64Array.from({ length: 256 }, (_, value) => {
  const share = value / 255;
  return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
});
const steps = 4_096;
const values = Uint8Array.from({ length: steps + 1 }, (_, step) => {
  const share = step / steps;
  return Math.round(255 * (share <= 0.003_130_8 ? share * 12.92 : 1.055 * share ** (1 / 2.4) - 0.055));
});

/**
 * Turns colours of Display P3 into those of sRGB, in place; what sRGB has not is as near as one channel after the other
 * gets.
 */
export function displayP3ToSrgb(data: Uint8Array, channels: 3 | 4): void {
  for (let at = 0; at + 2 < data.length; at += channels) {
    const [red, green, blue] = [lightOf(data[at]), lightOf(data[at + 1]), lightOf(data[at + 2])];
    data[at] = valueOf(toSrgb[0], red, green, blue);
    data[at + 1] = valueOf(toSrgb[1], red, green, blue);
    data[at + 2] = valueOf(toSrgb[2], red, green, blue);
  }
}

function lightOf(value = 0): number {
  return light[value] ?? 0;
}

function valueOf(row: readonly [number, number, number], red: number, green: number, blue: number): number {
  const share = row[0] * red + row[1] * green + row[2] * blue;
  return values[Math.round(Math.min(1, Math.max(0, share)) * steps)] ?? 0;
}

/** In an ICC profile: red, green and blue by their X and Y under the white of D50. */
const primaries = { rXYZ: [0.5151, 0.2412], gXYZ: [0.292, 0.6922], bXYZ: [0.1571, 0.0666] } as const;
const tolerance = 0.004;
/** Before them stands the header of the profile; each has a name, a place and a size. */
const [tagsAt, tagBytes, mostTags] = [128, 12, 100];

/** Are the colours that an ICC profile is about those of Display P3? */
export function hasDisplayP3Primaries(profile: Buffer): boolean {
  return Object.entries(primaries).every(([name, wanted]) => {
    const at = placeOf(profile, name);
    if (at === undefined || at + 16 > profile.length) return false;
    return wanted.every(
      (share, index) => Math.abs(profile.readInt32BE(at + 8 + 4 * index) / 65_536 - share) < tolerance,
    );
  });
}

function placeOf(profile: Buffer, name: string): number | undefined {
  for (let tag = 0; tag < mostTags; tag += 1) {
    const at = tagsAt + 4 + tag * tagBytes;
    if (at + tagBytes > profile.length) return undefined;
    if (profile.toString("latin1", at, at + 4) === name) return profile.readUInt32BE(at + 4);
  }
  return undefined;
}
