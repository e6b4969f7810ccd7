// Charts below some directories, each with the dependencies that others of them can give.
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import type { PrereleaseRule } from '../../core/text/semver.ts'
import { readYamlTable } from '../../render/helm/read-yaml.ts'
import { isCompatible } from '../../render/helm/semver.ts'

/** A chart, and the directory that it was looked for in. */
export interface FoundChart {
  readonly dir: string
  readonly root: string
  readonly version: string
}

/** Directories with a Chart.yaml that are not a part of another chart. */
export function chartsBelow(roots: readonly string[]): FoundChart[] {
  return roots.flatMap((root) => findCharts(root).map((dir) => ({ dir, root, version: versionOf(dir) })))
}

function findCharts(dir: string, found: string[] = []): string[] {
  if (existsSync(join(dir, 'Chart.yaml'))) {
    found.push(dir)
    return found
  }
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    if (entry.isDirectory() && entry.name !== '.git') findCharts(join(dir, entry.name), found)
  }
  return found
}

/** One of each directory, then the next of each: a run that is stopped has seen something of all. */
export function inTurns(found: readonly FoundChart[]): FoundChart[] {
  const turns = [...Map.groupBy(found, ({ root }) => root).values()]
  return turns
    .flatMap((list) => list.map((chart, turn) => ({ chart, turn })))
    .sort((a, b) => a.turn - b.turn)
    .map(({ chart }) => chart)
}

/** Puts a chart's missing dependencies beside it, below a scratch directory; gives the directory to render. */
export function vendoring(
  library: readonly FoundChart[],
  options: { readonly scratch: string; readonly prereleases: PrereleaseRule },
): (chart: FoundChart) => string {
  const byName = Map.groupBy(library, ({ dir }) => basename(dir))

  /** Of a fitting version first, then from the same root. */
  function best(need: Needed, root: string): FoundChart {
    const score = (one: FoundChart) =>
      2 * Number(isCompatible(need.version, one.version, options.prereleases)) + Number(one.root === root)
    return byName.get(need.name)!.reduce((a, b) => (score(b) > score(a) ? b : a))
  }

  function vendored({ dir, root }: FoundChart, depth: number): string {
    const needed = dependenciesOf(dir).filter(({ name }) => !hasSubchart(dir, name) && byName.has(name))
    if (needed.length === 0 || depth > 4) return dir
    const copy = join(options.scratch, `${depth}-${relative('/', dir).replaceAll('/', '_')}`, basename(dir))
    if (existsSync(copy)) return copy
    mkdirSync(join(copy, 'charts'), { recursive: true })
    linkInto(copy, dir)
    if (existsSync(join(dir, 'charts'))) linkInto(join(copy, 'charts'), join(dir, 'charts'))
    for (const need of needed) {
      const link = join(copy, 'charts', need.name)
      if (!existsSync(link)) symlinkSync(vendored(best(need, root), depth + 1), link)
    }
    return copy
  }
  return (chart) => vendored(chart, 0)
}

/** Links to what is in a folder, which takes a fraction of the time of a copy; helm follows them, as we do. */
function linkInto(folder: string, from: string): void {
  for (const name of readdirSync(from)) if (name !== 'charts') symlinkSync(join(from, name), join(folder, name))
}

function tableOf(file: string): Map<string, unknown> {
  try {
    return readYamlTable(readFileSync(file))
  } catch {
    return new Map() // what cannot be read has no version and no dependencies to look for
  }
}

function versionOf(dir: string): string {
  return String(tableOf(join(dir, 'Chart.yaml')).get('version'))
}

interface Needed {
  readonly name: string
  readonly version: string
}

function dependenciesOf(dir: string): Needed[] {
  for (const file of ['Chart.yaml', 'requirements.yaml']) {
    const list = tableOf(join(dir, file)).get('dependencies')
    if (Array.isArray(list)) {
      return list
        .filter((item) => item instanceof Map)
        .map((item) => ({ name: String(item.get('name')), version: String(item.get('version')) }))
    }
  }
  return []
}

function hasSubchart(dir: string, name: string): boolean {
  const subcharts = join(dir, 'charts')
  return existsSync(subcharts) && readdirSync(subcharts).some((entry) => entry === name || entry.startsWith(`${name}-`))
}
