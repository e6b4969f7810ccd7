// Tested by src/dialects/argo/applicationset/generate.test.ts.
/** Fills a text with parameters: `{{key}}`, or Go templates. */
import { executeTemplate } from '../../../render/gotemplate/exec.ts'
import { TemplateExecError } from '../../../render/gotemplate/exec-options.ts'
import type { ExecOptions } from '../../../render/gotemplate/exec-options.ts'
import { GoError } from '../../../render/gotemplate/function.ts'
import type { GoFunction } from '../../../render/gotemplate/function.ts'
import { goQuote } from '../../../render/gotemplate/go-string.ts'
import { parseTemplate, TemplateParseError } from '../../../render/gotemplate/parse.ts'
import type { Tree } from '../../../render/gotemplate/parse.ts'
import { ApplicationSetError } from './applicationset-error.ts'
import type { GenerateBudget } from './limits.ts'

/** The parameters of an Application, as Go's values: see render/gotemplate/value.ts. */
export type Parameters = Map<string, unknown>

/** Fills texts of an ApplicationSet. */
export interface TextRenderer {
  readonly isGo: boolean
  render(text: string, parameters: Parameters): string
  /** As `render` with missingkey=error; undefined when a key is missing. */
  renderIfComplete(text: string, parameters: Parameters): string | undefined
}

const BASE = 'base'
const MAX_TREES = 10_000

/** Creates the renderer of an ApplicationSet. */
export function createTextRenderer(
  { isGo, options }: { readonly isGo: boolean; readonly options: readonly string[] },
  functions: ReadonlyMap<string, GoFunction>,
  budget: GenerateBudget,
): TextRenderer {
  if (!isGo) {
    const render = (text: string, parameters: Parameters): string => renderPlain(text, parameters, budget)
    return { isGo, render, renderIfComplete: render }
  }
  let missingKey: MissingKey | undefined
  const go = new GoTexts(functions, budget)
  return {
    isGo,
    render: (text, parameters) => {
      missingKey ??= missingKeyOf(options)
      return go.render(text, parameters, missingKey)
    },
    renderIfComplete: (text, parameters) => {
      missingKeyOf(options)
      try {
        return go.render(text, parameters, 'error')
      } catch (caught) {
        if (!(caught instanceof ApplicationSetError)) throw caught
        if (/map has no entry for key|can't evaluate field/.test(caught.message)) return undefined
        throw caught
      }
    },
  }
}

type MissingKey = NonNullable<ExecOptions['missingKey']>

/** What the last option says; Argo CD dies of an unknown one. */
function missingKeyOf(options: readonly string[]): MissingKey {
  let found: MissingKey = 'invalid'
  for (const option of options) {
    const value = /^missingkey=(default|invalid|zero|error)$/.exec(option)?.[1]
    if (value === undefined) {
      throw new ApplicationSetError(
        `goTemplateOptions: unrecognized option ${goQuote(option)}; write "missingkey=error", "missingkey=zero" or "missingkey=default"`,
      )
    }
    found = value === 'default' ? 'invalid' : (value as MissingKey)
  }
  return found
}

class GoTexts {
  readonly #functions: ReadonlyMap<string, GoFunction>
  readonly #budget: GenerateBudget
  readonly #trees = new Map<string, ReadonlyMap<string, Tree>>()

  constructor(functions: ReadonlyMap<string, GoFunction>, budget: GenerateBudget) {
    this.#functions = functions
    this.#budget = budget
  }

  render(text: string, parameters: Parameters, missingKey: MissingKey): string {
    if (!text.includes('{{')) return text
    const trees = this.#parse(text)
    const tree = trees.get(BASE)
    if (!tree) return ''
    try {
      return executeTemplate(tree, parameters, {
        template: (name) => trees.get(name),
        functions: this.#functions,
        missingKey,
        step: () => this.#budget.step(),
        wrote: (length) => this.#budget.wrote(length),
      })
    } catch (caught) {
      if (caught instanceof TemplateExecError || caught instanceof GoError) {
        throw new ApplicationSetError(`failed to execute go template ${text}: ${caught.message}`)
      }
      if (caught instanceof RangeError) {
        throw new ApplicationSetError(`failed to execute go template ${text}: exceeded maximum template depth`)
      }
      throw caught
    }
  }

  #parse(text: string): ReadonlyMap<string, Tree> {
    const known = this.#trees.get(text)
    if (known) return known
    const { maxTemplate } = this.#budget.limits
    if (text.length > maxTemplate) throw new ApplicationSetError(`a template has more than ${maxTemplate} characters`)
    try {
      const trees = parseTemplate(BASE, text, (name) => this.#functions.has(name))
      if (this.#trees.size >= MAX_TREES) this.#trees.clear()
      this.#trees.set(text, trees)
      return trees
    } catch (caught) {
      if (caught instanceof TemplateParseError || caught instanceof RangeError) {
        throw new ApplicationSetError(`failed to parse template ${text}: ${caught.message}`)
      }
      throw caught
    }
  }
}

/** Replaces `{{key}}`; a key that is missing, or is not text, stays. */
function renderPlain(text: string, parameters: Parameters, budget: GenerateBudget): string {
  if (!isTagged(text)) return text
  let out = ''
  let at = 0
  for (;;) {
    const start = text.indexOf('{{', at)
    if (start < 0) break
    const end = text.indexOf('}}', start + 2)
    if (end < 0) {
      throw new ApplicationSetError(
        `invalid template: Cannot find end tag="}}" in the template=${goQuote(text)} starting from ${goQuote(text.slice(start + 2))}`,
      )
    }
    const tag = text.slice(start + 2, end)
    const value = parameters.get(tag.trim())
    out += text.slice(at, start) + (tag.trim() === '' || typeof value !== 'string' ? `{{${tag}}}` : value)
    at = end + 2
    budget.step()
  }
  out += text.slice(at)
  budget.wrote(out.length)
  return out
}

/** Whether a line has a tag: one over several lines alone makes no template. */
function isTagged(text: string): boolean {
  return (
    text.includes('{{') &&
    text.split('\n').some((line) => {
      const start = line.indexOf('{{')
      return start >= 0 && line.indexOf('}}', start + 2) >= 0
    })
  )
}
