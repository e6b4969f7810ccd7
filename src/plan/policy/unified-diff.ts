/** Unified differences as Python's difflib finds them, which Open Cluster Management uses by a port to Go. */

/** Lines with their ends; the text after the last line break gets one, as in the original. */
export function splitLines(text: string): string[] {
  const lines = text.split('\n').map((line) => `${line}\n`)
  return lines
}

interface Match {
  readonly a: number
  readonly b: number
  readonly size: number
}

interface Change {
  readonly tag: 'equal' | 'other'
  readonly a: readonly [from: number, to: number]
  readonly b: readonly [from: number, to: number]
}

/** From this length on, lines that make up more than one per cent are not looked for. */
const POPULAR_FROM = 200

/** The difference of two texts with the lines around each change; empty if there is none. */
export function unifiedDiff(
  a: readonly string[],
  b: readonly string[],
  { from, to, context }: { readonly from: string; readonly to: string; readonly context: number },
): string {
  const groups = groupChanges(changesOf(a, b), context)
  if (groups.length === 0) return ''
  const parts = [`--- ${from}\n`, `+++ ${to}\n`]
  for (const group of groups) {
    const [first, last] = [group[0]!, group.at(-1)!]
    parts.push(`@@ -${rangeText(first.a[0], last.a[1])} +${rangeText(first.b[0], last.b[1])} @@\n`)
    for (const { tag, a: left, b: right } of group) {
      if (tag === 'equal') parts.push(...a.slice(...left).map((line) => ` ${line}`))
      else parts.push(...a.slice(...left).map((line) => `-${line}`), ...b.slice(...right).map((line) => `+${line}`))
    }
  }
  return parts.join('')
}

function rangeText(start: number, stop: number): string {
  const length = stop - start
  if (length === 1) return String(start + 1)
  return length === 0 ? `${start},0` : `${start + 1},${length}`
}

/** Where each line of `b` stands, without the lines that are too frequent. */
function positionsOf(b: readonly string[]): Map<string, number[]> {
  const positions = new Map<string, number[]>()
  for (const [at, line] of b.entries()) {
    const known = positions.get(line)
    if (known) known.push(at)
    else positions.set(line, [at])
  }
  if (b.length >= POPULAR_FROM) {
    const most = Math.floor(b.length / 100) + 1
    for (const [line, found] of positions) if (found.length > most) positions.delete(line)
  }
  return positions
}

interface Section {
  readonly aFrom: number
  readonly aTo: number
  readonly bFrom: number
  readonly bTo: number
}

function longestMatch(
  a: readonly string[],
  b: readonly string[],
  positions: ReadonlyMap<string, readonly number[]>,
  { aFrom, aTo, bFrom, bTo }: Section,
): Match {
  let [besti, bestj, size] = [aFrom, bFrom, 0]
  let lengths = new Map<number, number>()
  for (let i = aFrom; i < aTo; i++) {
    const next = new Map<number, number>()
    for (const j of positions.get(a[i]!) ?? []) {
      if (j < bFrom) continue
      if (j >= bTo) break
      const length = (lengths.get(j - 1) ?? 0) + 1
      next.set(j, length)
      if (length > size) [besti, bestj, size] = [i - length + 1, j - length + 1, length]
    }
    lengths = next
  }
  while (besti > aFrom && bestj > bFrom && a[besti - 1] === b[bestj - 1]) {
    ;[besti, bestj, size] = [besti - 1, bestj - 1, size + 1]
  }
  while (besti + size < aTo && bestj + size < bTo && a[besti + size] === b[bestj + size]) size += 1
  return { a: besti, b: bestj, size }
}

function matchesOf(a: readonly string[], b: readonly string[]): Match[] {
  const positions = positionsOf(b)
  const found: Match[] = []
  const open: Section[] = [{ aFrom: 0, aTo: a.length, bFrom: 0, bTo: b.length }]
  for (let section = open.pop(); section; section = open.pop()) {
    const match = longestMatch(a, b, positions, section)
    if (match.size === 0) continue
    found.push(match)
    const { aFrom, aTo, bFrom, bTo } = section
    if (aFrom < match.a && bFrom < match.b) open.push({ aFrom, aTo: match.a, bFrom, bTo: match.b })
    const [aNext, bNext] = [match.a + match.size, match.b + match.size]
    if (aNext < aTo && bNext < bTo) open.push({ aFrom: aNext, aTo, bFrom: bNext, bTo })
  }
  found.sort((x, y) => x.a - y.a || x.b - y.b)
  const joined: Match[] = []
  for (const match of found) {
    const last = joined.at(-1)
    if (last && last.a + last.size === match.a && last.b + last.size === match.b) {
      joined[joined.length - 1] = { ...last, size: last.size + match.size }
    } else joined.push(match)
  }
  return [...joined, { a: a.length, b: b.length, size: 0 }]
}

function changesOf(a: readonly string[], b: readonly string[]): Change[] {
  const changes: Change[] = []
  let [i, j] = [0, 0]
  for (const { a: ai, b: bj, size } of matchesOf(a, b)) {
    if (i < ai || j < bj) changes.push({ tag: 'other', a: [i, ai], b: [j, bj] })
    if (size > 0) changes.push({ tag: 'equal', a: [ai, ai + size], b: [bj, bj + size] })
    ;[i, j] = [ai + size, bj + size]
  }
  return changes
}

/** Changes with at most `n` equal lines around them; changes that are close are in one group. */
function groupChanges(changes: readonly Change[], n: number): Change[][] {
  const codes = [...changes]
  const first = codes[0]
  if (first?.tag === 'equal') {
    codes[0] = {
      ...first,
      a: [Math.max(first.a[0], first.a[1] - n), first.a[1]],
      b: [Math.max(first.b[0], first.b[1] - n), first.b[1]],
    }
  }
  const last = codes.at(-1)
  if (last?.tag === 'equal') {
    codes[codes.length - 1] = {
      ...last,
      a: [last.a[0], Math.min(last.a[1], last.a[0] + n)],
      b: [last.b[0], Math.min(last.b[1], last.b[0] + n)],
    }
  }
  const groups: Change[][] = []
  let group: Change[] = []
  for (const code of codes) {
    let { a, b } = code
    if (code.tag === 'equal' && a[1] - a[0] > 2 * n) {
      group.push({ tag: 'equal', a: [a[0], Math.min(a[1], a[0] + n)], b: [b[0], Math.min(b[1], b[0] + n)] })
      groups.push(group)
      group = []
      a = [Math.max(a[0], a[1] - n), a[1]]
      b = [Math.max(b[0], b[1] - n), b[1]]
    }
    group.push({ tag: code.tag, a, b })
  }
  if (group.length > 0 && !(group.length === 1 && group[0]!.tag === 'equal')) groups.push(group)
  return groups
}
