/** A chart in memory. Rendering changes its charts (aliases, disabled dependencies), so each render works on a copy. */
import type { Dict } from '../values/dict.ts'
import { cleanPath } from '../functions/paths.ts'
import type { Metadata } from './metadata.ts'

/** A file of a chart, by its path inside it. */
export interface ChartFile {
  readonly name: string
  readonly data: Uint8Array
}

/** A loaded chart with the charts below it. */
export interface Chart {
  metadata: Metadata
  parent: Chart | undefined
  dependencies: Chart[]
  values: Dict
  /** The text of values.yaml. */
  readonly valuesText?: Uint8Array | undefined
  readonly templates: readonly ChartFile[]
  readonly files: readonly ChartFile[]
  readonly schema: Uint8Array | undefined
}

/** Replaces the charts below a chart. */
export function setDependencies(chart: Chart, dependencies: readonly Chart[]): void {
  for (const child of dependencies) child.parent = chart
  chart.dependencies = [...dependencies]
}

/** A copy whose structure may be changed; files and default values are shared. */
export function cloneChart(chart: Chart): Chart {
  const copy: Chart = {
    ...chart,
    parent: undefined,
    metadata: {
      ...chart.metadata,
      dependencies: chart.metadata.dependencies?.map((dependency) => ({ ...dependency })),
    },
  }
  setDependencies(copy, chart.dependencies.map(cloneChart))
  return copy
}

/** `parent/charts/child`: the path under which a chart's templates are known. */
export function fullPath(chart: Chart): string {
  return chart.parent ? `${fullPath(chart.parent)}/charts/${chart.metadata.name}` : chart.metadata.name
}

/** The full name of a chart's file; a chart named `.` leaves no trace in it. */
export function pathIn(chart: Chart, name: string): string {
  return cleanPath(`${fullPath(chart)}/${name}`)
}

/** The files under crds/ of a chart and of its subcharts, with their full names. */
export function crdsOf(chart: Chart): { readonly filename: string; readonly data: Uint8Array }[] {
  const own = chart.files
    .filter(({ name }) => name.startsWith('crds/') && /\.(yaml|yml|json)$/i.test(name))
    .map(({ name, data }) => ({ filename: pathIn(chart, name), data }))
  return [...own, ...chart.dependencies.flatMap(crdsOf)]
}

/** Returns true for a library chart. */
export function isLibrary(chart: Chart): boolean {
  return chart.metadata.type.toLowerCase() === 'library'
}
