/** Events about pictures and files decoded by the host, and about speech. */
export interface MediaEventData {
  /** `blob`: its SHA-256 as models are shown it; the types and sizes before and after. */
  "picture.kept": {
    readonly blob: string;
    readonly from: string;
    readonly to: string;
    readonly originalBytes: number;
    readonly bytes: number;
    readonly width: number;
    readonly height: number;
    readonly frames: number;
  };
  /** `refused`: it is damaged, too large or no picture; `failed`: it has ended the process that reads it. */
  "picture.refused": { readonly failure: string };
  /** `chars`: of what it says. */
  "picture.described": { readonly blob: string; readonly model: string; readonly chars: number };
  /** `by`: the provider and its model; `chars`: of the words, which are not told. */
  "voice.asked": { readonly by: string; readonly chars: number };
  "voice.made": {
    readonly by: string;
    readonly chars: number;
    readonly bytes: number;
    readonly seconds: number | undefined;
    readonly ms: number;
  };
  "voice.refused": { readonly by: string; readonly reason: string; readonly ms: number };
  "media.failed": { readonly operation: string; readonly reason: string };
}
