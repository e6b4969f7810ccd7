import { CLUSTER_CELLS } from './cluster.ts'
import { CORE_CELLS } from './core.ts'
import { WORKLOAD_CELLS } from './workloads.ts'
import type { Cells } from './cell-makers.ts'

/** What the columns of Kubernetes' own kinds show, by group and kind; NAME and AGE are the same for all. */
export const BUILTIN_CELLS: Readonly<Record<string, Cells>> = { ...CORE_CELLS, ...WORKLOAD_CELLS, ...CLUSTER_CELLS }
