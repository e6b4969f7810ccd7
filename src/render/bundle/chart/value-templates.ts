/**
 * `${ }` in Helm values alone: the values are written as YAML, expanded, and read again, so that a label `1.20` becomes
 * the number 1.2 unless the template quotes it. Before that a text `global.fleet.clusterLabels.NAME` becomes the label,
 * always as text.
 */
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { readFirstYaml } from '../../../yaml/read/read-yaml.ts'
import { writeYaml } from '../../../yaml/write/write-yaml.ts'
import type { RenderBudget } from '../../helm/render-limits.ts'
import { createExpander } from '../expander.ts'
import type { LayerOptions } from '../recipe.ts'
import { RenderFailure } from '../render-failure.ts'
import type { TrackedInputs } from '../track-reads.ts'

/** The data that value templates can read. */
export interface ValueTemplateContext {
  readonly watched: TrackedInputs
  /** `namespace/name` of the bundle. */
  readonly bundle: string
  readonly watch?: RenderBudget | undefined
}

const LABEL_TEXT = 'global.fleet.clusterLabels.'
const DEEPEST = 50

/** Returns the values of a cluster, expanded if the recipe enables value templates. */
export function expandValues(helm: LayerOptions['helm'], scene: ValueTemplateContext): JsonObject {
  const values = helm?.values ?? {}
  const mode = helm?.valuesTemplating ?? 'None'
  if (mode === 'None') return values
  const labelled = withLabels(values, scene, 0) as JsonObject
  const templates = Object.entries(helm?.templateValues ?? {})
  if (mode === 'Labels') {
    // Templates that are not expanded are still YAML.
    return { ...labelled, ...Object.fromEntries(templates.map(([key, text]) => [key, parse(text, key)])) }
  }
  const expander = createExpander(dataOf(scene), scene.watch)
  const expanded = parse(expander.expand(writeYaml(labelled), 'helm.values'), 'helm.values')
  if (expanded !== null && !isObject(expanded)) throw new RenderFailure('helm.values are no map once they are expanded')
  const over = templates.map(([key, text]) => {
    const where = `helm.templateValues.${key}`
    return [key, parse(expander.expand(text, where), where)]
  })
  return { ...expanded, ...Object.fromEntries(over) }
}

function parse(text: string, file: string): unknown {
  return readFirstYaml(text, { file, resolver: '1.1', duplicateKeys: 'last' }).value
}

function withLabels(value: unknown, scene: ValueTemplateContext, depth: number): unknown {
  if (depth > DEEPEST) throw new RenderFailure(`helm.values are more than ${DEEPEST} maps deep`)
  if (Array.isArray(value)) return value.map((item) => (isObject(item) ? withLabels(item, scene, depth + 1) : item))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      typeof item === 'string' && item.startsWith(LABEL_TEXT)
        ? (scene.watched.label(item.slice(LABEL_TEXT.length)) ?? '')
        : withLabels(item, scene, depth + 1),
    ]),
  )
}

const isOfKubectl = (key: string): boolean => key.startsWith('kubectl.kubernetes.io/')
const isShownLabel = (key: string): boolean =>
  /^(fleet|management)\.cattle\.io\//.test(key) || !(key.includes('cattle.io/') || isOfKubectl(key))
const isShownAnnotation = (key: string): boolean => !(key.includes('cattle.io/') || isOfKubectl(key))

function dataOf({ watched, bundle }: ValueTemplateContext): Map<string, unknown> {
  return new LazyMap([
    ['ClusterNamespace', () => bundle.slice(0, bundle.indexOf('/'))],
    ['ClusterName', () => watched.map.get('Name')],
    ['ClusterLabels', () => watched.seen('labels', isShownLabel)],
    ['ClusterAnnotations', () => watched.seen('annotations', isShownAnnotation)],
    ['ClusterValues', () => watched.map.get('Values')],
    ['Cluster', () => watched.map],
  ])
}

/** Reads a cluster field only when a template names it: the recorded reads are the key of the variant. */
class LazyMap extends Map<string, unknown> {
  override get(key: string): unknown {
    const make = super.get(key)
    return typeof make === 'function' ? (make as () => unknown)() : make
  }
}
