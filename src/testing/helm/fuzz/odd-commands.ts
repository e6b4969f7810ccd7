// Random command lines of `helm template` over odd charts: flags of every kind, right and wrong ones, in every
// spelling.
import { tarGz } from '../../fixtures/tar.ts'
import { drawn, oddChart } from './odd-charts.ts'
import type { Draw, OddTree } from './odd-charts.ts'
import { VALUES_FILES } from './odd-files.ts'
import { BOOLEANS, BOOLEAN_VALUES, STRANGE, STRANGE_WORDS, VALUED, WORDS } from './odd-flags.ts'
import { chance, pick, seeded } from './random.ts'
import type { Random } from './random.ts'

/** A folder with a chart and files of values, and a command line that is run in it. */
export interface OddCommand extends OddTree {
  /** Behind `helm template`. */
  readonly args: readonly string[]
  readonly stdin: string
}

/** A random command of a seed. */
export function oddCommand(seed: number): OddCommand {
  const random = seeded(seed * 7919 + 31)
  for (let warm = 0; warm < 5; warm++) random(10)
  const draw: Draw = { random, calm: random(3) > 0 }
  const { files, links } = oddChart(draw)
  for (const name of ['v0.yaml', 'v1.yaml']) files.set(name, drawn(draw, VALUES_FILES))
  files.set('v,.yaml', 'a: comma\n')
  files.set('post.sh', '#!/bin/sh\nsed s/kind/Kind/\necho "# $*"\n')
  files.set('broken.sh', '#!/bin/sh\necho said >&2\nexit 3\n')
  if (chance(random, 8)) files.set('OUT/top/templates/a.yaml', 'before\n')
  const args = [...(!draw.calm && chance(random, 6) ? pick(random, STRANGE_WORDS) : pick(random, WORDS))]
  if (args.includes('c.tgz')) files.set('c.tgz', packed(random, files))
  for (let count = random(5); count > 0; count--) {
    const flag = flagOf(draw)
    // Between the words, too.
    args.splice(!draw.calm && random(3) === 0 ? random(args.length + 1) : args.length, 0, ...flag)
  }
  return { files, links, args, stdin: drawn(draw, VALUES_FILES) }
}

function flagOf(draw: Draw): readonly string[] {
  const { random, calm } = draw
  if (!calm && chance(random, 12)) return pick(random, STRANGE)
  if (chance(random, 3)) {
    const name = pick(random, BOOLEANS)
    if (chance(random, 8))
      return pick(random, [
        [`--${name}`, `--${name}=false`],
        [`--${name}=false`, `--${name}`],
      ])
    return [
      chance(random, 6) ? `--${name}=${pick(random, calm ? BOOLEAN_VALUES.slice(0, 5) : BOOLEAN_VALUES)}` : `--${name}`,
    ]
  }
  // The first ones say what is rendered; the others are there to be read.
  const [name, short, values] = pick(random, chance(random, 8) ? VALUED : VALUED.slice(0, 12))
  const value = drawn(draw, values)
  const spellings = [[`--${name}`, value], [`--${name}`, value], [`--${name}=${value}`]]
  if (short !== '-') spellings.push([`-${short}`, value], [`-${short}${value}`], [`-${short}=${value}`])
  return pick(random, spellings)
}

function packed(random: Random, files: OddTree['files']): Uint8Array {
  const top = pick(random, ['c', 'top', 'x', '.'])
  const inside = [...files].filter(([name]) => name.startsWith('c/'))
  return tarGz(inside.map(([name, content]) => ({ name: `${top}${name.slice(1)}`, content })))
}
