/** Rewrite rules: an address in a Source is served by a mirror. */
import { isObject } from '../core/json.ts'
import { readYamlDocument } from '../yaml/read/read-yaml.ts'
import { SourceError } from './source-error.ts'
import { ALL_SCHEMES, isBelow, parseSourceUrl } from './source-url.ts'
import type { SourceScheme, SourceUrl } from './source-url.ts'

/** A rule: addresses below `from` are fetched below `to`. */
export interface Mirror {
  readonly from: string
  readonly to: string
}

const MAX_RULES = 256

/** Reads the rules of the ConfigMap. Throws SourceError with the name of an invalid rule. */
export function readMirrors(text: string): Mirror[] {
  const { value } = readYamlDocument(text, { file: 'mirrors.yaml' })
  if (value === null || value === undefined) return []
  if (!Array.isArray(value) || value.length > MAX_RULES) {
    throw new SourceError('BadMirrors', `mirrors.yaml must be a list of at most ${MAX_RULES} {from, to}.`)
  }
  return value.map((rule: unknown, index) => {
    const { from, to } = isObject(rule) ? rule : {}
    if (typeof from !== 'string' || typeof to !== 'string') {
      throw new SourceError('BadMirrors', `mirrors.yaml: rule ${index + 1} needs "from" and "to", both addresses.`)
    }
    parseSourceUrl(from, ALL_SCHEMES)
    parseSourceUrl(to, ALL_SCHEMES)
    return { from, to }
  })
}

/** The address to contact: the longest matching rule applies, once. */
export function rewriteToMirror(
  url: SourceUrl,
  mirrors: readonly Mirror[],
  allowed: readonly SourceScheme[],
): { readonly url: SourceUrl; readonly isMirror: boolean } {
  const rules = mirrors
    .map(({ from, to }) => ({ from: parseSourceUrl(from, ALL_SCHEMES), to }))
    .filter(({ from }) => isBelow(url, from))
    .sort((a, b) => b.from.path.length - a.from.path.length)
  const rule = rules[0]
  if (!rule) return { url, isMirror: false }
  const rest = url.path.slice(rule.from.path.replace(/\/$/, '').length)
  return { url: parseSourceUrl(`${rule.to.replace(/\/$/, '')}${rest}`, allowed), isMirror: true }
}
