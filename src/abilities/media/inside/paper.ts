/** So bright at least, of 255, and so little coloured at most, is paper. */
const [brightest, colour] = [200, 40];
const share = 0.5;

/**
 * Is most of it as white or grey as paper or the background of a page? Then it is a scan or a screenshot, with text
 * that gets lost when it is made small.
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
