/** Settings of ConfigMap `argocd-cm`: health checks and ignored differences of kinds. */
import { compact } from '../../../core/compact.ts'
import { digestOfJson } from '../../../core/crypto/digest.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { matchesGlob } from '../../../core/text/glob.ts'
import type { BundleOptions, ObjectSelector } from '../../../kinds/fields/bundle-options.ts'
import { compileHealthCheck } from '../../../lua/health-check.ts'
import { readFirstYaml } from '../../../yaml/read/read-yaml.ts'
import { YamlError } from '../../../yaml/yaml.ts'
import { ignoreOf } from '../application.ts'

/** The name of the ConfigMap. */
export const SETTINGS_NAME = 'argocd-cm'

/** A setting that has no effect, and the kinds that it is for. */
export interface SettingProblem {
  readonly selector: ObjectSelector
  readonly message: string
}

/** Objects that no Application delivers, in some clusters. */
export interface Exclusion {
  readonly objects: readonly ObjectSelector[]
  /** Patterns of server addresses; none for all clusters. */
  readonly clusters: readonly string[]
}

/** What the ConfigMap says of the objects of Applications. */
export interface ArgoSettings {
  /** Equal for equal settings. */
  readonly digest: string
  readonly health: NonNullable<BundleOptions['health']>
  readonly ignore: NonNullable<BundleOptions['ignore']>
  readonly exclusions: readonly Exclusion[]
  readonly problems: readonly SettingProblem[]
}

const MAX_HEALTH = 64
const MAX_EXCLUDED = 64
/** Applications have ignored differences of their own besides. */
const MAX_IGNORE = 48
/** Characters of all checks together: each Bundle has them. */
const MAX_CHECKS = 131_072
const BLOCK = 'resource.customizations'
const NO_SELECTOR: ObjectSelector = {}
/** Parts of a customization that do not concern what is delivered and how it is judged. */
const WITHOUT_EFFECT = new Set(['actions', 'ignoreResourceUpdates', 'knownTypeFields'])

/** A customization of a kind, from the block or from keys of their own. */
interface Customization {
  health?: string
  usesOpenLibs?: boolean
  /** Rules, by the key that they are from. */
  ignore?: { readonly from: string; readonly value: unknown }
}

/** Reads the data of the ConfigMap; what cannot be followed is a problem, and the rest counts. */
export function readSettings(data: Readonly<Record<string, string>> = {}): ArgoSettings {
  const problems: SettingProblem[] = []
  const say = (message: string, selector = NO_SELECTOR) => void problems.push({ selector, message })
  const kinds = new Map<string, Customization>()
  readBlock(data[BLOCK] ?? '', kinds, say)
  readKeys(data, kinds, say)
  const health: NonNullable<BundleOptions['health']> = []
  const ignore: NonNullable<BundleOptions['ignore']> = []
  let size = 0
  // A check for exactly a kind comes before those with a pattern, as in Argo CD.
  for (const [name, one] of [...kinds].toSorted(([a], [b]) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1))) {
    const selector = selectorOf(name)
    if (!selector) {
      say(`${name} is not a kind; write GROUP/KIND, with * for any text`)
      continue
    }
    if (one.health !== undefined) {
      const check = compileHealthCheck(one.health)
      size += one.health.length
      if (!check.ok) say(`the health check of ${name} is not used: ${check.problem}`, selector)
      else if (health.length === MAX_HEALTH || size > MAX_CHECKS) {
        say(
          `the health check of ${name} is not used: only ${MAX_HEALTH} checks with ${MAX_CHECKS} characters are`,
          selector,
        )
      } else {
        health.push({ ...selector, lua: one.health })
        if (one.usesOpenLibs)
          say(`useOpenLibs of ${name} has no effect: libraries with access to files are not available`, selector)
      }
    }
    if (one.ignore) {
      const wrong = (message: string) => say(`${message} (${one.ignore!.from})`, selector)
      const rules = ignoreRules(one.ignore.value, selector, wrong)
      if (ignore.length + rules.length > MAX_IGNORE) wrong(`only ${MAX_IGNORE} rules of ignored differences are used`)
      else ignore.push(...rules)
    }
  }
  const exclusions = readExclusions(data, say)
  const said = problems.map(({ message }) => message)
  return { digest: digestOfJson({ health, ignore, exclusions, said }), health, ignore, exclusions, problems }
}

/** The problems of settings that concern one of these objects, in sentences. */
export function settingNotes(
  { problems }: ArgoSettings,
  selects: (selector: ObjectSelector) => boolean,
): readonly string[] {
  return problems
    .filter(({ selector }) => selects(selector))
    .map(({ message }) => `ConfigMap ${SETTINGS_NAME}: ${message}`)
}

/** The objects to leave out where an Application goes; undefined for none. */
export function excludedFrom({ exclusions }: ArgoSettings, server: string): readonly ObjectSelector[] | undefined {
  const found = exclusions
    .filter(({ clusters }) => clusters.length === 0 || clusters.some((pattern) => matchesGlob(pattern, server)))
    .flatMap(({ objects }) => objects)
  return found.length === 0 ? undefined : found
}

type Say = (message: string, selector?: ObjectSelector) => void

/** The older form: one text in YAML with a map of kinds. */
function readBlock(text: string, kinds: Map<string, Customization>, say: Say): void {
  const block = readYamlMap(text, BLOCK, say)
  for (const [name, value] of Object.entries(block)) {
    if (!isObject(value)) {
      say(`${BLOCK}: ${name} is not a map`)
      continue
    }
    const { 'health.lua': health, 'health.lua.useOpenLibs': usesOpenLibs, ignoreDifferences } = value
    kinds.set(
      name,
      compact({
        health: typeof health === 'string' ? health : undefined,
        usesOpenLibs: usesOpenLibs === true ? true : undefined,
        ignore: ignoreDifferences === undefined ? undefined : { from: `${BLOCK}, ${name}`, value: ignoreDifferences },
      }),
    )
  }
}

/** `resource.customizations.PART.GROUP_KIND`. */
function readKeys(data: Readonly<Record<string, string>>, kinds: Map<string, Customization>, say: Say): void {
  for (const [key, value] of Object.entries(data).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const [, part = '', kindName = ''] = /^resource\.customizations\.([^.]+)\.(.+)$/.exec(key) ?? []
    if (part === '' || WITHOUT_EFFECT.has(part)) continue
    const [group = '', kind, ...more] = kindName.split('_')
    if (more.length > 0) {
      say(`${key} has no effect: write ${BLOCK}.${part}.GROUP_KIND, or .KIND for a core kind`)
      continue
    }
    const name =
      kindName === 'all' && part === 'ignoreDifferences' ? '*' : kind === undefined ? group : `${group}/${kind}`
    const known = kinds.get(name) ?? {}
    kinds.set(name, known)
    if (part === 'health') known.health = value
    else if (part === 'useOpenLibs') known.usesOpenLibs = value === 'true'
    else if (part === 'ignoreDifferences') known.ignore = { from: key, value }
    else say(`${key} has no effect: ${part} is not a customization of Argo CD`)
  }
}

/** `resource.exclusions`: a list with `apiGroups`, `kinds` and `clusters`; an empty list means all. */
function readExclusions(data: Readonly<Record<string, string>>, say: Say): Exclusion[] {
  if ((data['resource.inclusions'] ?? '').trim() !== '') {
    say('resource.inclusions has no effect: name what is left out in resource.exclusions')
  }
  const list = readYamlList(data['resource.exclusions'] ?? '', 'resource.exclusions', say)
  const found: Exclusion[] = []
  let count = 0
  for (const [at, entry] of list.entries()) {
    const texts = (field: string): readonly string[] | undefined => {
      const value = isObject(entry) ? (entry[field] ?? []) : undefined
      return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : undefined
    }
    const [groups, kinds, clusters] = ['apiGroups', 'kinds', 'clusters'].map(texts)
    if (!groups || !kinds || !clusters) {
      say(`resource.exclusions[${at}] has no effect: apiGroups, kinds and clusters must be lists of texts`)
      continue
    }
    const objects = orAll(groups).flatMap((group) => orAll(kinds).map((kind): ObjectSelector => ({ group, kind })))
    count += objects.length
    if (count > MAX_EXCLUDED)
      say(`resource.exclusions[${at}] has no effect: only ${MAX_EXCLUDED} pairs of group and kind are used`)
    else found.push({ objects, clusters: [...clusters] })
  }
  return found
}

function orAll(patterns: readonly string[]): readonly string[] {
  return patterns.length === 0 ? ['*'] : patterns
}

function readYamlList(text: string, what: string, say: Say): readonly unknown[] {
  if (text.trim() === '') return []
  try {
    const { value } = readFirstYaml(text)
    if (Array.isArray(value)) return value as unknown[]
    say(`${what} is not a list`)
  } catch (caught) {
    if (!(caught instanceof YamlError)) throw caught
    say(`${what} cannot be read: ${caught.message}`)
  }
  return []
}

function ignoreRules(value: unknown, selector: ObjectSelector, wrong: (message: string) => void) {
  const rule = isObject(value) ? value : readYamlMap(typeof value === 'string' ? value : '', 'ignoreDifferences', wrong)
  const texts = (field: string): readonly string[] => {
    const list = rule[field]
    return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : []
  }
  const { group, kind } = selector
  return ignoreOf(
    compact({
      group,
      kind,
      jsonPointers: texts('jsonPointers'),
      jqPathExpressions: texts('jqPathExpressions'),
      managedFieldsManagers: texts('managedFieldsManagers'),
    }),
    { note: wrong, wrong },
  )
}

function readYamlMap(text: string, what: string, say: (message: string) => void): JsonObject {
  if (text.trim() === '') return {}
  try {
    const { value } = readFirstYaml(text)
    if (isObject(value)) return value
    say(`${what} is not a map`)
  } catch (caught) {
    if (!(caught instanceof YamlError)) throw caught
    say(`${what} cannot be read: ${caught.message}`)
  }
  return {}
}

function rankOf(name: string): number {
  return name.includes('*') ? 1 : 0
}

/** The objects that `GROUP/KIND` means; a core kind has no group. */
function selectorOf(name: string): ObjectSelector | undefined {
  if (name === '*' || name === '*/*') return {}
  const match = /^(?:([a-z0-9.*-]*)\/)?([A-Za-z0-9*]+)$/.exec(name)
  return match ? { group: match[1] ?? '', kind: match[2]! } : undefined
}
