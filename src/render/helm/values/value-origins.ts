/**
 * Where each value came from. Of all layers that have a value the first counts, as in coalescing: what the user gave
 * (the last flag or file first), then the defaults of the topmost chart, and so down to the chart itself; globals from
 * the top chart down.
 */
import { readFirstNode } from '../../../yaml/read/read-yaml.ts'
import type { YamlNode } from '../../../yaml/node.ts'
import { deepEqual } from '../functions/go/deep-equal.ts'
import { fullPath } from '../chart/chart.ts'
import type { Chart } from '../chart/chart.ts'
import { isTable } from './dict.ts'
import type { Dict } from './dict.ts'
import type { HelmProfile } from '../profile.ts'
import { readValues } from './values-file.ts'

/** A layer of the user's values: a file or a flag. */
export interface ValueLayer {
  readonly kind: 'values file' | 'flag'
  /** The file's name, or the flag as it was given. */
  readonly source: string
  readonly values: Dict
  readonly text?: Uint8Array
}

/** The layer and the file (with its line) or flag that a value came from. */
export interface ValueOrigin {
  readonly layer: 'values file' | 'flag' | 'chart default' | 'parent chart' | 'import-values'
  readonly source: string
  readonly line: number | undefined
}

/** A value of the coalesced table, by its path from the top chart. */
export interface ExplainedValue {
  readonly path: readonly string[]
  readonly value: unknown
  readonly origin: ValueOrigin | undefined
}

/** Values of a layer with the text they were read from. */
interface Layer {
  readonly layer: ValueOrigin['layer']
  readonly source: string
  readonly values: Dict
  readonly text: Uint8Array | undefined
}

const GLOBAL = 'global'

/** Answers where values came from, for a chart as it is rendered: dependencies processed, values coalesced. */
export class ValueOrigins {
  readonly #chart: Chart
  readonly #values: Dict
  readonly #user: readonly Layer[]
  readonly #profile: HelmProfile
  readonly #defaults = new Map<Chart, readonly [own: Layer, imported: Layer]>()
  readonly #nodes = new Map<Uint8Array, YamlNode | undefined>()

  constructor(chart: Chart, values: Dict, layers: readonly ValueLayer[], profile: HelmProfile) {
    this.#chart = chart
    this.#values = values
    this.#profile = profile
    this.#user = layers.toReversed().map(({ kind, source, values: own, text }) => ({
      layer: kind,
      source,
      values: own,
      text,
    }))
  }

  /** Every value that is no table, with its origin. */
  all(): ExplainedValue[] {
    return leaves(this.#values, []).map(({ path, value }) => ({ path, value, origin: this.of(path) }))
  }

  /** The origin of the value at a path from the top chart; undefined when no layer has it. */
  of(path: readonly string[]): ValueOrigin | undefined {
    const wanted = look(this.#values, path)
    if (!wanted) return undefined
    const candidates = this.#candidates(path)
    return (candidates.find(({ found }) => deepEqual(found, wanted.value)) ?? candidates[0])?.origin
  }

  /** The values a template of a file reads by `.Values.…`, as paths from the top chart. */
  pathFrom(file: string, names: readonly string[]): readonly string[] {
    const charts = file.split('/charts/').slice(1)
    return [...charts.map((part) => part.split('/')[0]!), ...names]
  }

  #candidates(path: readonly string[]): { readonly found: unknown; readonly origin: ValueOrigin }[] {
    const chain = this.#chainOf(path)
    const own = path.slice(chain.length - 1)
    const places =
      own[0] === GLOBAL
        ? chain.map((_, depth) => ({ depth, path: [...path.slice(0, depth), ...own] }))
        : [{ depth: chain.length - 1, path }]
    return places.flatMap((place) =>
      this.#layersOf(chain.slice(0, place.depth + 1)).flatMap(({ layer, skip }) => {
        const inside = place.path.slice(skip)
        const found = look(layer.values, inside)
        if (!found) return []
        const origin = { layer: layer.layer, source: layer.source, line: this.#lineOf(layer, inside) }
        return [{ found: found.value, origin }]
      }),
    )
  }

  /** The charts from the top chart down to the chart whose table a path is in. */
  #chainOf(path: readonly string[]): Chart[] {
    const chain = [this.#chart]
    for (const name of path.slice(0, -1)) {
      const child = chain.at(-1)!.dependencies.find(({ metadata }) => metadata.name === name)
      if (!child) break
      chain.push(child)
    }
    return chain
  }

  /** The layers that speak about a chart, the strongest first; `skip` is how much of a path lies above each. */
  #layersOf(chain: readonly Chart[]): { readonly layer: Layer; readonly skip: number }[] {
    const user = this.#user.map((layer) => ({ layer, skip: 0 }))
    const charts = chain.flatMap((chart, depth) => {
      const isOwn = depth === chain.length - 1
      return this.#defaultsOf(chart).map((layer) => ({
        layer: layer.layer === 'chart default' && !isOwn ? { ...layer, layer: 'parent chart' as const } : layer,
        skip: depth,
      }))
    })
    // A chart with imports has the defaults of its subcharts in its table too: these layers are searched last.
    const isImport = ({ layer }: (typeof charts)[number]) => layer.layer === 'import-values'
    return [...user, ...charts.filter((one) => !isImport(one)), ...charts.filter(isImport)]
  }

  /** What a chart's values.yaml says, and what it has beside that, which was imported. */
  #defaultsOf(chart: Chart): readonly [Layer, Layer] {
    const known = this.#defaults.get(chart)
    if (known) return known
    const source = `${fullPath(chart)}/values.yaml`
    const text = chart.valuesText
    const numbers = this.#profile.numbersAsText ? 'text' : 'float64'
    const values: Dict = text ? readValues(text, this.#profile, numbers) : new Map<string, unknown>()
    const layers = [
      { layer: 'chart default', source, values, text },
      { layer: 'import-values', source: `${fullPath(chart)}/Chart.yaml`, values: chart.values, text: undefined },
    ] as const
    this.#defaults.set(chart, layers)
    return layers
  }

  #lineOf({ text }: Layer, path: readonly string[]): number | undefined {
    if (!text) return undefined
    if (!this.#nodes.has(text)) this.#nodes.set(text, readFirstNode(text))
    let node = contentOf(this.#nodes.get(text))
    let line: number | undefined
    for (const key of path) {
      const at = node?.kind === 'mapping' ? keyIndex(node, key) : -1
      if (at < 0) return line
      line = node!.content[at]!.line
      node = contentOf(node!.content[at + 1])
    }
    return line
  }
}

/** An origin for people: `prod.yaml:3 (values file)`. */
export function originText({ layer, source, line }: ValueOrigin): string {
  return `${source}${line === undefined ? '' : `:${line}`}${layer === 'flag' ? '' : ` (${layer})`}`
}

function contentOf(node: YamlNode | undefined): YamlNode | undefined {
  if (node?.kind === 'document') return contentOf(node.content[0])
  return node?.kind === 'alias' ? node.alias : node
}

/** The last of equal keys, which counts. */
function keyIndex(mapping: YamlNode, key: string): number {
  return mapping.content.findLastIndex((node, index) => index % 2 === 0 && node.value === key)
}

function look(values: Dict, path: readonly string[]): { readonly value: unknown } | undefined {
  let value: unknown = values
  for (const key of path) {
    if (!isTable(value) || !value.has(key)) return undefined
    value = value.get(key)
  }
  return { value: value ?? null }
}

function leaves(table: Dict, path: readonly string[]): { path: readonly string[]; value: unknown }[] {
  return [...table].flatMap(([key, value]) => {
    const inner = [...path, key]
    return isTable(value) && value.size > 0 ? leaves(value, inner) : [{ path: inner, value }]
  })
}
