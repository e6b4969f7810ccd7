/** Fills the template of an ApplicationSet: `{{key}}`, or Go templates, in all its strings. */
import { isObject } from '../../../core/json.ts'
import { createExpander } from '../../../render/bundle/expander.ts'
import { RenderFailure } from '../../../render/bundle/render-failure.ts'
import { goFunction } from '../../../render/gotemplate/function.ts'
import { hasPlaceholders, placeholderFor } from './cluster-placeholders.ts'
import { normalized } from './parameters.ts'

/** The parameters of an Application: nested for Go templates, flat (`path.basename`) for plain templates. */
export type Parameters = Readonly<Record<string, unknown>>

/** How a template is filled. */
export interface Filling {
  readonly isGo: boolean
  readonly parameters: Parameters
  /** Whether parameters may be values of the cluster: its name, server, labels and annotations. */
  readonly ofCluster: boolean
  wrong(message: string): void
}

// Functions of Argo CD that neither Sprig nor Helm has.
const OWN_FUNCTIONS = new Map([['normalize', goFunction(['string'], ([text]) => normalized(text as string))]])
const CLUSTER_WORD = /^(?:name(?:Normalized)?|server|project|metadata\.(labels|annotations)\.(.+))$/
const GO_WORD =
  /\{\{-?\s*(?:\.(?<word>name|nameNormalized|server|project)|\.metadata\.(?<map>labels|annotations)\.(?<key>\w+)|index\s+\.metadata\.(?<indexed>labels|annotations)\s+"(?<quoted>[^"]+)"|\.values\.(?<own>\w+))\s*-?\}\}/g

interface GoWord {
  readonly word?: string
  readonly map?: string
  readonly key?: string
  readonly indexed?: string
  readonly quoted?: string
  readonly own?: string
}

/** Fills all strings of a value. */
export function fillTexts(value: unknown, filling: Filling): unknown {
  if (typeof value === 'string') return fillText(value, filling)
  if (Array.isArray(value)) return value.map((item) => fillTexts(item, filling))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [fillText(key, filling), fillTexts(item, filling)]),
  )
}

/** Fills one string. */
export function fillText(text: string, filling: Filling): string {
  if (!text.includes('{{')) return text
  return filling.isGo ? fillGo(text, filling) : fillPlain(text, filling)
}

function fillPlain(text: string, { parameters, ofCluster, wrong }: Filling): string {
  return text.replaceAll(/\{\{\s*([^{}]*?)\s*\}\}/g, (all, key: string) => {
    const value = parameters[key]
    if (typeof value === 'string') return value
    const mark = ofCluster ? clusterMark(key) : undefined
    if (mark !== undefined) return mark
    const hint = key.startsWith('.') ? '; words with a dot need goTemplate: true' : ''
    wrong(`${all} is no parameter of its generators; they have ${namesOf(parameters, ofCluster)}${hint}`)
    return all
  })
}

function clusterMark(key: string): string | undefined {
  const [found, map, name] = CLUSTER_WORD.exec(key) ?? []
  if (found === undefined) return undefined
  if (map !== undefined) return placeholderFor(`${map}/${name}`)
  return found === 'project' ? '' : placeholderFor(found === 'server' ? 'server' : 'name')
}

function namesOf(parameters: Parameters, ofCluster: boolean): string {
  const names = Object.keys(parameters)
  const all = ofCluster ? ['name', 'server', 'metadata.labels.KEY', 'metadata.annotations.KEY', ...names] : names
  return all.length === 0 ? 'none' : all.join(', ')
}

function fillGo(text: string, { parameters, ofCluster, wrong }: Filling): string {
  const values = isObject(parameters['values']) ? parameters['values'] : {}
  const isMarked = (key: string): boolean => typeof values[key] === 'string' && hasPlaceholders(values[key])
  const markFor = (all: string, groups: GoWord): string => {
    const { own, word, map, key, indexed, quoted } = groups
    if (own !== undefined) return isMarked(own) ? String(values[own]) : all
    if (word !== undefined) return word in parameters ? all : (clusterMark(word) ?? all)
    return clusterMark(`metadata.${map ?? indexed}.${key ?? quoted}`) ?? all
  }
  const marked = ofCluster
    ? text.replaceAll(GO_WORD, (all, ...found: unknown[]) => markFor(all, found.at(-1) as GoWord))
    : text
  if (!marked.includes('{{')) return marked
  // Values of the cluster are not known here: a function gets an empty value instead of a mark.
  const known = { ...parameters, values: Object.fromEntries(Object.entries(values).filter(([key]) => !isMarked(key))) }
  try {
    return createExpander(asGo(known) as Map<string, unknown>, undefined, OWN_FUNCTIONS).execute(marked, 'template')
  } catch (caught) {
    if (!(caught instanceof RenderFailure)) throw caught
    const hint = ofCluster ? '; what depends on the cluster may be named ({{.name}}), not worked on' : ''
    wrong(`${JSON.stringify(text)} cannot be filled in: ${caught.message}${hint}`)
    return marked
  }
}

function asGo(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asGo)
  if (!isObject(value)) return value
  return new Map(Object.entries(value).map(([key, item]) => [key, asGo(item)]))
}
