/** Helm's engine: parses every template of a chart and its subcharts into one set, runs them in Helm's order. */
import { executeTemplate } from '../../gotemplate/exec.ts'
import { locate, TemplateExecError } from '../../gotemplate/exec-options.ts'
import type { ExecOptions } from '../../gotemplate/exec-options.ts'
import { GoError, goFunction } from '../../gotemplate/function.ts'
import type { GoFunction } from '../../gotemplate/function.ts'
import { goQuote } from '../../gotemplate/go-string.ts'
import { fieldsRead } from '../../gotemplate/node.ts'
import type { AnyNode } from '../../gotemplate/node.ts'
import { isEmptyList, parseTemplate, TemplateParseError } from '../../gotemplate/parse.ts'
import type { Tree } from '../../gotemplate/parse.ts'
import { isLibrary, pathIn } from '../chart/chart.ts'
import type { Chart } from '../chart/chart.ts'
import { tableAt } from '../values/dict.ts'
import type { Dict } from '../values/dict.ts'
import { execError, parseError, warning } from './exec-error.ts'
import type { RandomDraws } from '../frozen-random.ts'
import { helmFunctions } from '../functions/helm-functions.ts'
import type { LookUp } from '../functions/helm-functions.ts'
import { HelmError } from '../helm-error.ts'
import { LimitError } from '../render-limits.ts'
import type { RenderLimits, RenderBudget } from '../render-limits.ts'
import type { HelmProfile } from '../profile.ts'
import { chartObject, filesObject, namedValues } from './template-objects.ts'
import { decodeFileText } from '../chart/file-text.ts'

/** What the engine works with. */
export interface EngineOptions {
  readonly profile: HelmProfile
  readonly draws: RandomDraws
  readonly lookUp: LookUp
  readonly limits: Required<RenderLimits>
  readonly trace?: RenderTrace
  readonly watch?: RenderBudget
  /** Trees of text given to `tpl`, kept between renders of a chart. */
  readonly parsed: ParseCache
}

/** A piece of a file's output. Included text is a piece of the action that includes it. */
export interface TracedPiece {
  readonly file: string
  readonly text: string
  /** `file:line:column` of the node that wrote it. */
  readonly origin: string
  /** The values the node names, as the keys behind `.Values`. */
  readonly reads: readonly (readonly string[])[]
}

/** Receives each piece of the output. */
export type RenderTrace = (piece: TracedPiece) => void

/** Parsed templates by name and text. */
export interface ParseCache {
  readonly files: WeakMap<Uint8Array, Map<string, ReadonlyMap<string, Tree>>>
  readonly texts: Map<string, ReadonlyMap<string, Tree>>
}

/** An empty cache. */
export function createParseCache(): ParseCache {
  return { files: new WeakMap(), texts: new Map() }
}

const MAX_CACHED_TEXTS = 10_000
const MAX_NESTED_INCLUDES = 1_000
/** A power of two: the number of steps between two calls of the render budget. */
const STEPS_PER_LOOK = 8

interface Renderable {
  readonly data: Uint8Array
  readonly scope: Dict
  readonly basePath: string
}

/** Renders every template; partials and what is only whitespace are in the result as they came out. */
export function renderTemplates(chart: Chart, top: Dict, options: EngineOptions): Map<string, string> {
  const renderables = new Map<string, Renderable>()
  collect(chart, renderables, { parent: top, profile: options.profile })
  return new Engine(options).render(renderables)
}

/** Gathers templates, and makes the scope each chart's templates see. */
function collect(
  chart: Chart,
  renderables: Map<string, Renderable>,
  context: { readonly parent: Dict; readonly profile: HelmProfile },
): Dict {
  const { parent, profile } = context
  const parentValues = parent.get('Values')
  const plain = parentValues instanceof Map ? (parentValues as Dict) : (parentValues as { value: Dict }).value
  const own = chart.parent ? tableAt(plain, chart.metadata.name) : plain
  const subcharts: Dict = new Map()
  const scope: Dict = new Map<string, unknown>([
    ['Chart', chartObject(chart.metadata, !chart.parent, profile)],
    ['Files', filesObject(chart.files)],
    ['Release', parent.get('Release')],
    ['Capabilities', parent.get('Capabilities')],
    ['Values', namedValues(own ?? new Map(), profile)],
    ['Subcharts', subcharts],
  ])
  for (const child of chart.dependencies) {
    subcharts.set(child.metadata.name, collect(child, renderables, { parent: scope, profile }))
  }
  const basePath = pathIn(chart, 'templates')
  for (const { name, data } of chart.templates) {
    if (isLibrary(chart) && !baseName(name).startsWith('_')) continue
    renderables.set(pathIn(chart, name), { data, scope, basePath })
  }
  return scope
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Deepest first, then by name backwards: the last definition of a template wins, so a parent's does. */
function parseOrder(a: string, b: string): number {
  const [depthA, depthB] = [a.split('/').length, b.split('/').length]
  if (depthA !== depthB) return depthB - depthA
  return a < b ? 1 : -1
}

class Engine {
  readonly #options: EngineOptions
  readonly #base: Map<string, GoFunction>
  readonly #nested = new Map<string, number>()
  readonly #hasFunction: (name: string) => boolean
  #steps = 0
  #output = 0
  #file = ''

  constructor(options: EngineOptions) {
    this.#options = options
    this.#base = helmFunctions(options)
    this.#base.set(
      'required',
      goFunction(['string', 'any'], ([message, value]) => required(message as string, value)),
    )
    this.#base.set(
      'fail',
      goFunction(['string'], ([message]) => {
        throw new GoError(warning(message as string))
      }),
    )
    const names = new Set([...this.#base.keys(), 'include', 'tpl'])
    this.#hasFunction = (name) => names.has(name)
  }

  render(renderables: ReadonlyMap<string, Renderable>): Map<string, string> {
    const names = [...renderables.keys()].sort(parseOrder)
    const set = new Map<string, Tree>()
    for (const name of names) this.#define(set, this.#parseFile(name, renderables.get(name)!.data), name)
    const scopeOptions = this.#execOptions(set)
    const rendered = new Map<string, string>()
    for (const name of names) {
      if (baseName(name).startsWith('_')) continue
      const { scope, basePath } = renderables.get(name)!
      const template = new Map<string, unknown>([
        ['Name', name],
        ['BasePath', basePath],
      ])
      scope.set('Template', namedValues(template, this.#options.profile))
      this.#file = name
      this.#options.draws.enter(name)
      this.#options.watch?.(() => name, 'file')
      rendered.set(name, this.#run(name, set.get(name)!, scope, scopeOptions))
    }
    return rendered
  }

  #run(name: string, tree: Tree, scope: Dict, execOptions: ExecOptions): string {
    const { profile, trace } = this.#options
    const traced: ExecOptions = trace
      ? {
          ...execOptions,
          trace: (text, from, node) => {
            trace({ file: name, text, origin: locate(from, node), reads: fieldsRead(node, 'Values') })
          },
        }
      : execOptions
    try {
      return executeTemplate(tree, namedValues(scope, profile), traced).replaceAll('<no value>', '')
    } catch (error) {
      throw this.#explain(name, error)
    }
  }

  #explain(name: string, error: unknown): unknown {
    if (error instanceof LimitError) return new HelmError(error.message, { cause: error, rendered: true })
    if (error instanceof RangeError && /call stack/i.test(error.message)) {
      return new HelmError(`${name}: templates are nested too deep`, { cause: error, rendered: true })
    }
    if (error instanceof TemplateExecError || error instanceof GoError) {
      return execError(name, error, this.#options.profile)
    }
    return error
  }

  #parseFile(name: string, data: Uint8Array): ReadonlyMap<string, Tree> {
    const { files } = this.#options.parsed
    const known = files.get(data)?.get(name)
    if (known) return known
    try {
      const trees = parseTemplate(name, decodeFileText(data), this.#hasFunction)
      const byName = files.get(data) ?? new Map<string, ReadonlyMap<string, Tree>>()
      byName.set(name, trees)
      files.set(data, byName)
      return trees
    } catch (error) {
      if (error instanceof TemplateParseError) throw parseError(name, error.message)
      throw error
    }
  }

  /** Adds trees to a set; an empty tree replaces only the file's own. */
  #define(set: Map<string, Tree>, trees: ReadonlyMap<string, Tree>, own: string): void {
    for (const [name, tree] of trees) {
      if (name !== own && set.has(name) && isEmptyList(tree.root)) continue
      set.set(name, tree)
    }
  }

  /** How templates of a set run: `include` and `tpl` see that set. */
  #execOptions(set: ReadonlyMap<string, Tree>): ExecOptions {
    const functions = new Map(this.#base)
    const options: ExecOptions = {
      template: (name) => set.get(name),
      functions,
      step: (tree, node) => this.#step(tree, node),
      wrote: (length, tree, node) => this.#wrote(length, tree, node),
    }
    functions.set(
      'include',
      goFunction(['string', 'any'], ([name, data]) => this.#include(name as string, data, options)),
    )
    functions.set(
      'tpl',
      goFunction(['string', 'any'], ([text, data]) => this.#tpl(text as string, data, { set, options })),
    )
    return options
  }

  #include(name: string, data: unknown, options: ExecOptions): string {
    const depth = this.#nested.get(name) ?? 0
    if (depth > MAX_NESTED_INCLUDES) {
      throw new GoError(`rendering template has a nested reference name: ${name}: unable to execute template`)
    }
    const tree = options.template(name)
    if (!tree) throw new GoError(`template: no template ${goQuote(name)} associated with template "gotpl"`)
    this.#nested.set(name, depth + 1)
    const text = executeTemplate(tree, data ?? undefined, options)
    this.#nested.set(name, depth)
    return text
  }

  #tpl(text: string, data: unknown, outer: { set: ReadonlyMap<string, Tree>; options: ExecOptions }): string {
    // Nearly every value that is given to tpl has no template in it.
    if (!text.includes('{{')) return text.replaceAll('<no value>', '')
    const trees = this.#parseText(text)
    let { options } = outer
    if (trees.size > 1) {
      const set = new Map(outer.set)
      this.#define(set, trees, 'gotpl')
      options = this.#execOptions(set)
    }
    try {
      return executeTemplate(trees.get('gotpl')!, data ?? undefined, options).replaceAll('<no value>', '')
    } catch (error) {
      if (!(error instanceof TemplateExecError)) throw error
      throw new GoError(`error during tpl function execution for ${goQuote(text)}: ${error.message}`, { cause: error })
    }
  }

  #parseText(text: string): ReadonlyMap<string, Tree> {
    const { texts } = this.#options.parsed
    const known = texts.get(text)
    if (known) return known
    try {
      const trees = parseTemplate('gotpl', text, this.#hasFunction)
      if (texts.size >= MAX_CACHED_TEXTS) texts.clear()
      texts.set(text, trees)
      return trees
    } catch (error) {
      if (!(error instanceof TemplateParseError)) throw error
      throw new GoError(`cannot parse template ${goQuote(text)}: ${error.message}`, { cause: error })
    }
  }

  #step(tree: Tree, node: AnyNode): void {
    this.#steps += 1
    if (this.#steps > this.#options.limits.steps) {
      this.#overLimit(`ran for more than ${this.#options.limits.steps} steps`, tree, node)
    }
    if ((this.#steps & (STEPS_PER_LOOK - 1)) === 1) this.#look(tree, node)
  }

  #look(tree: Tree, node: AnyNode): void {
    const { watch } = this.#options
    if (watch?.(() => locate(tree, node), 'step') === 'stop') this.#overLimit('ran for longer than it may', tree, node)
  }

  #wrote(length: number, tree: Tree, node: AnyNode): void {
    this.#output += length
    if (this.#output > this.#options.limits.output) {
      this.#overLimit(`wrote more than ${this.#options.limits.output} characters`, tree, node)
    }
  }

  #overLimit(problem: string, tree: Tree, node: AnyNode): never {
    throw new LimitError(`${this.#file}: the template ${problem}; it was at ${locate(tree, node)}`)
  }
}

function required(message: string, value: unknown): unknown {
  if (value === null || value === undefined || value === '') throw new GoError(warning(message))
  return value
}
