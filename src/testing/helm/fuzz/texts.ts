// Tables of texts, one per line.

/** Each line as a text: the escapes of a JSON string but quotes as they are; `(nothing)` is the empty text. */
export function texts(lines: string): string[] {
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (line === '(nothing)' ? '' : (JSON.parse(`"${line.replaceAll('"', '\\"')}"`) as string)))
}

/** Texts of which some are refused by helm; who wants a render to get far takes only the others. */
export interface Mixed {
  readonly fine: readonly string[]
  readonly all: readonly string[]
}

/** A table whose lines behind `(refused)` make helm fail. */
export function mixed(lines: string): Mixed {
  const [fine = '', refused = ''] = lines.split('\n(refused)\n')
  return { fine: texts(fine), all: [...texts(fine), ...texts(refused)] }
}
