/** Minimum brightness, of 255, and maximum color of paper. */
const [brightest, colour] = [200, 40];
const share = 0.5;

/**
 * True when most of a picture is white or grey like paper or a page: a scan or screenshot, whose text suffers when
 * scaled down.
 */
export function isMostlyPaper({
  data,
  channels,
}: {
  readonly data: Uint8Array;
  readonly channels: 1 | 2 | 3 | 4;
}): boolean {
  const colours = channels < 3 ? 1 : 3;
  let paper = 0;
  for (let at = 0; at < data.length; at += channels) {
    let [low, high] = [255, 0];
    for (let channel = 0; channel < colours; channel += 1) {
      const value = data[at + channel] ?? 0;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    if (low >= brightest && high - low <= colour) paper += 1;
  }
  return paper > (data.length / channels) * share;
}
