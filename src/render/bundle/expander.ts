/** `${ … }` in any text: Go templates with Helm's functions over the data of a cluster. A missing key is an error. */
import { executeTemplate } from '../gotemplate/exec.ts'
import { locate, TemplateExecError } from '../gotemplate/exec-options.ts'
import { GoError, goFunction } from '../gotemplate/function.ts'
import type { GoFunction } from '../gotemplate/function.ts'
import { goQuote } from '../gotemplate/go-string.ts'
import { parseTemplate, TemplateParseError } from '../gotemplate/parse.ts'
import { RandomDraws } from '../helm/frozen-random.ts'
import type { Entropy } from '../helm/frozen-random.ts'
import { helmFunctions } from '../helm/functions/helm-functions.ts'
import type { RenderBudget } from '../helm/render-limits.ts'
import { HELM_4 } from '../helm/profile.ts'
import { OUT_OF_TIME, RenderFailure } from './render-failure.ts'

/** Expands texts of a render. */
export interface Expander {
  /** Replaces every `${ }`; `file` names the text in errors. `$${` stands for `${`. */
  expand(text: string, file: string): string
  /** Expands a Go template in its usual form, with `{{ }}`. */
  execute(template: string, file: string): string
}

const MAX_STEPS = 5_000_000
const MAX_OUTPUT = 64 * 1024 * 1024
const STEPS_PER_LOOK = 8
// Functions whose result differs between renders are removed: content is shared by its digest.
const FORBIDDEN =
  /^(rand|gen|now|uuid|shuffle|lookup|ago|getHostByName|env|expandenv|bcrypt|htpasswd|encryptAES|date|unixEpoch|derivePassword|buildCustomCert)/

const NO_ENTROPY: Entropy = {
  randomBytes: () => refuse(),
  now: () => refuse(),
  generateKey: () => refuse(),
}

function refuse(): never {
  throw new GoError('random values and the time are not available here')
}

/** Creates an expander over data; `more` are functions in addition to Helm's. */
export function createExpander(
  data: Map<string, unknown>,
  watch?: RenderBudget,
  more: ReadonlyMap<string, GoFunction> = new Map(),
): Expander {
  const functions = new Map([...functionsFor(), ...more])
  let steps = 0
  let output = 0
  const expander: Expander = {
    expand: (text, file) => (text.includes('${') ? expander.execute(toGoTemplate(text), file) : text),
    execute: (template, file) => {
      if (watch?.(() => file, 'file') === 'stop') throw new RenderFailure(OUT_OF_TIME, { file })
      try {
        const tree = parseTemplate(file, template, (name) => functions.has(name)).get(file)
        if (!tree) return ''
        return executeTemplate(tree, data, {
          template: () => undefined,
          functions,
          missingKey: 'error',
          step: (at, node) => {
            steps += 1
            if (steps > MAX_STEPS) throw new GoError(`the templates take more than ${MAX_STEPS} steps`)
            if (steps % STEPS_PER_LOOK === 0 && watch?.(() => locate(at, node), 'step') === 'stop') {
              throw new GoError(OUT_OF_TIME)
            }
          },
          wrote: (length) => {
            output += length
            if (output > MAX_OUTPUT) throw new GoError(`the templates write more than ${MAX_OUTPUT} bytes`)
          },
        })
      } catch (caught) {
        if (caught instanceof TemplateExecError || caught instanceof TemplateParseError || caught instanceof GoError) {
          throw new RenderFailure(readable(caught.message), { file, cause: caught })
        }
        throw caught
      }
    },
  }
  return expander
}

// Only the delimiters differ: the text between them is a Go template, and line numbers stay the same.
function toGoTemplate(text: string): string {
  let out = ''
  for (let at = 0; at < text.length;) {
    const start = text.indexOf('${', at)
    if (start < 0) return out + literal(text.slice(at))
    if (text[start - 1] === '$') {
      out += literal(`${text.slice(at, start - 1)}\${`)
      at = start + 2
      continue
    }
    const end = closing(text, start + 2)
    if (end < 0) return out + literal(text.slice(at))
    out += `${literal(text.slice(at, start))}{{${text.slice(start + 2, end)}}}`
    at = end + 1
  }
  return out
}

function literal(text: string): string {
  return text.replaceAll('{{', '{{"{{"}}')
}

/** Finds the brace that ends an expression; braces in strings do not count. */
function closing(text: string, from: number): number {
  let quote = ''
  for (let at = from; at < text.length; at++) {
    const char = text[at]!
    if (quote !== '') {
      if (char === '\\' && quote === '"') at += 1
      else if (char === quote) quote = ''
    } else if (char === '"' || char === '`' || char === "'") quote = char
    else if (char === '}') return at
    else if (char === '\n') return -1
  }
  return -1
}

function readable(message: string): string {
  return message.replace(/^template: /, '').replace(/executing "[^"]*" at /, 'at ')
}

function functionsFor(): Map<string, GoFunction> {
  const functions = helmFunctions({ profile: HELM_4, draws: new RandomDraws(NO_ENTROPY), lookUp: () => undefined })
  for (const name of functions.keys()) if (FORBIDDEN.test(name)) functions.delete(name)
  const index = functions.get('index')!
  // Go's index returns nothing for a missing key; here a missing key is an error that the author must see.
  functions.set('index', {
    ...index,
    call: (args, ...rest) => {
      let item = args[0]
      for (const key of args.slice(1)) {
        if (!(item instanceof Map) || typeof key !== 'string') break
        if (!item.has(key)) throw new GoError(`map has no entry for key ${goQuote(key)}`)
        item = item.get(key)
      }
      return index.call(args, ...rest)
    },
  })
  functions.set(
    'required',
    goFunction(['string', 'any'], ([message, value]) => {
      if (value === undefined || value === null || value === '') throw new GoError(message as string)
      return value
    }),
  )
  return functions
}
