/**
 * Which subcharts take part: conditions, tags, aliases; and values they export to their parent. A port of Helm's steps.
 */
import { formatValue } from '../../gotemplate/format.ts'
import { typeInfo } from '../../gotemplate/value.ts'
import { setDependencies } from './chart.ts'
import type { Chart } from './chart.ts'
import { coalesceValues, mergeTables, mergeValues } from '../values/coalesce.ts'
import { copyTable, tableAt, valueAt } from '../values/dict.ts'
import type { Dict } from '../values/dict.ts'
import { HelmError } from '../helm-error.ts'
import type { Dependency } from './metadata.ts'
import type { HelmProfile } from '../profile.ts'
import { isCompatible } from '../semver.ts'
import { stringMap } from '../engine/template-objects.ts'

/** What processing works with. */
export interface DependencyContext {
  readonly profile: HelmProfile
  readonly warn: (message: string) => void
}

/** Removes disabled subcharts, creates aliased subcharts, imports exported values. Changes the chart. */
export function processDependencies(chart: Chart, values: Dict, context: DependencyContext): void {
  processEnabled(chart, values, '', context)
  processImports(chart, context)
}

function processEnabled(chart: Chart, values: Dict, path: string, context: DependencyContext): void {
  const requirements = chart.metadata.dependencies
  if (requirements === undefined) return
  const { profile } = context
  const charts = chart.dependencies.filter(
    (existing) =>
      !requirements.some(
        ({ name, version }) =>
          existing.metadata.name === name && isCompatible(version, existing.metadata.version, profile.prereleases),
      ),
  )
  for (const requirement of requirements) {
    const found = aliasOf(chart.dependencies, requirement, profile)
    if (found) charts.push(found)
    if (requirement.alias !== '') requirement.name = requirement.alias
  }
  setDependencies(chart, charts)
  for (const requirement of requirements) requirement.enabled = true
  const coalesced = coalesceValues(chart, values, context)
  processTags(requirements, coalesced)
  processConditions(requirements, coalesced, path)
  const removed = new Set(requirements.filter(({ enabled }) => !enabled).map(({ name }) => name))
  const kept = chart.dependencies.filter(({ metadata }) => !removed.has(metadata.name))
  const keptRequirements = requirements.filter(({ name }) => !removed.has(name))
  for (const child of kept) processEnabled(child, coalesced, `${path}${child.metadata.name}.`, context)
  // Go appends to nil: no dependency left is nil again, which later steps tell from an empty list.
  chart.metadata.dependencies = keptRequirements.length > 0 ? keptRequirements : undefined
  setDependencies(chart, kept)
}

/** The chart a requirement means, copied as far as it is changed. */
function aliasOf(charts: readonly Chart[], requirement: Dependency, profile: HelmProfile): Chart | undefined {
  const found = charts.find(
    ({ metadata }) =>
      metadata.name === requirement.name && isCompatible(requirement.version, metadata.version, profile.prereleases),
  )
  if (!found) return undefined
  const copy: Chart = { ...found, metadata: { ...found.metadata } }
  if (profile.copiesAliasedDependencies) {
    copy.metadata.dependencies = found.metadata.dependencies?.map((dependency) => ({ ...dependency }))
    setDependencies(
      copy,
      found.dependencies.map((child) => ({ ...child })),
    )
  }
  if (requirement.alias !== '') copy.metadata.name = requirement.alias
  return copy
}

function processTags(requirements: readonly Dependency[], values: Dict): void {
  const tags = tableAt(values, 'tags')
  if (!tags) return
  for (const requirement of requirements) {
    const said = requirement.tags.map((tag) => tags.get(tag)).filter((value) => typeof value === 'boolean')
    requirement.enabled = said.length === 0 || said.includes(true)
  }
}

function processConditions(requirements: readonly Dependency[], values: Dict, path: string): void {
  for (const requirement of requirements) {
    for (const condition of requirement.condition.trim().split(',')) {
      if (condition === '') continue
      const found = valueAt(values, path + condition)
      if (typeof found?.value === 'boolean') {
        requirement.enabled = found.value
        break
      }
    }
  }
}

function processImports(chart: Chart, context: DependencyContext): void {
  for (const child of chart.dependencies) processImports(child, context)
  const requirements = chart.metadata.dependencies
  if (requirements === undefined) return
  const values = mergeValues(chart, new Map(), context)
  let imported: Dict = new Map()
  for (const requirement of requirements) {
    const importValues: unknown[] = []
    for (const item of requirement.importValues) {
      const mapping = importMapping(item, context.profile)
      if (!mapping) continue
      // The original list is gone: where aliases share a requirement (Helm 3), the second alias finds nothing to
      // import.
      importValues.push(stringMap(new Map(Object.entries(mapping))))
      const table = tableAt(values, `${requirement.name}.${mapping.child}`)
      // As in Helm: an empty table is new; a table with content is the child's own and changes with each merge.
      const taken = table?.size === 0 ? new Map<string, unknown>() : table
      if (taken) imported = mergeTables(imported, nest(mapping.parent, taken), context)
    }
    requirement.importValues = importValues
  }
  chart.values = mergeTables(copyTable(values), imported, context)
}

function importMapping(item: unknown, profile: HelmProfile): { child: string; parent: string } | undefined {
  if (typeof item === 'string') return { child: `exports.${item}`, parent: '.' }
  if (!(item instanceof Map) || typeInfo(item)) return undefined
  const isText = ['child', 'parent'].every((key) => typeof (item as Dict).get(key) === 'string')
  // Helm 3 dies of it.
  if (profile.name === 'helm3' && !isText) throw new HelmError('import-values: child and parent must be texts')
  return {
    child: formatValue((item as Dict).get('child')),
    parent: formatValue((item as Dict).get('parent')),
  }
}

function nest(path: string, table: Dict): Dict {
  if (path === '.') return table
  return path.split('.').reduceRight<Dict>((inner, key) => new Map([[key, inner]]), table)
}
