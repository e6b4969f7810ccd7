import { tableColumns, tableRow } from '../../kinds/columns.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { UnknownObject } from '../../kinds/meta.ts'

/** Objects as rows of `kubectl get`. */

/** How much of the object each row carries. */
export type IncludeObject = 'None' | 'Metadata' | 'Object'

/** How a Table is made. */
export interface TableOptions {
  /** The version of meta.k8s.io. */
  readonly version: string
  readonly include: IncludeObject
  readonly nowMs: number
  readonly metadata: object
  /** False after the first event of a watch. */
  readonly withColumns?: boolean
}

/** A Table of objects. */
export function toTable(kind: Kind, objects: readonly UnknownObject[], options: TableOptions): object {
  const { version, nowMs, metadata, withColumns } = options
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${version}`,
    metadata,
    columnDefinitions: withColumns === false ? null : tableColumns(kind),
    rows: objects.map((object) => ({ cells: tableRow(kind, object, nowMs), object: included(object, options) })),
  }
}

function included(object: UnknownObject, { include, version }: TableOptions): object | null {
  if (include === 'None') return null
  return include === 'Object' ? object : partialObjectMetadata(object, version)
}

/** The object's metadata alone. */
export function partialObjectMetadata(object: UnknownObject, version: string): object {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata: object.metadata }
}
