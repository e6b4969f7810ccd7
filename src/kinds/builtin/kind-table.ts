import { compact } from '../../core/compact.ts'
import type { JsonObject } from '../../core/json.ts'
import { formatAge } from '../columns.ts'
import { AGE } from '../define-kind.ts'
import type { Column, Kind } from '../define-kind.ts'
import type { KubeObject, Scope } from '../meta.ts'
import type { StructuralSchema } from '../schema/structural.ts'
import { BUILTIN_CELLS } from './cells/builtin-cells.ts'
import type { CellMaker } from './cells/cell-makers.ts'
import { DEFAULTERS } from './defaults/defaulters.ts'
import { zeroValue, typeSchema, dropEmpty } from './definitions.ts'
import { builtinValidationErrors } from './validation/builtin-validation.ts'
import { COLUMN_DESCRIPTIONS, KINDS } from './table/kinds.generated.ts'

/** Kubernetes' own kinds from the generated table; schemas and columns are made at their first use. */

interface Row {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly scope: Scope
  /** The type of the whole object. */
  readonly schema: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly status?: boolean
  readonly scale?: boolean
  readonly description: string
  readonly columns: readonly (readonly [
    name: string,
    type: Column['type'],
    format: string,
    priority: number,
    description: number,
  ])[]
}

/** Names that are not DNS subdomains. */
const NAME_FORMATS: Readonly<Record<string, Kind['nameFormat']>> = {
  '/Namespace': 'label',
  '/Service': 'label',
  'networking.k8s.io/IPAddress': 'address',
  'rbac.authorization.k8s.io/Role': 'pathSegment',
  'rbac.authorization.k8s.io/ClusterRole': 'pathSegment',
  'rbac.authorization.k8s.io/RoleBinding': 'pathSegment',
  'rbac.authorization.k8s.io/ClusterRoleBinding': 'pathSegment',
}

const SCALE: Kind['subresources']['scale'] = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
}

const kinds = new Map(
  KINDS.trim()
    .split('\n')
    .map((line) => {
      const row = JSON.parse(line) as Row
      return [addressOf(row.group, row.version, row.kind), kindOfRow(row)] as const
    }),
)

function addressOf(group: string, version: string, kind: string): string {
  return `${group === '' ? version : `${group}/${version}`} ${kind}`
}

/** All kinds of the table, in the order of discovery. */
export const TABLE_KINDS: readonly Kind[] = [...kinds.values()]

/**
 * A kind of the table by its apiVersion and kind; `T` is the type of its objects, as far as this project looks into
 * them.
 */
export function builtinKind<T extends KubeObject>(apiVersion: string, kind: string): Kind<T> {
  const found = kinds.get(`${apiVersion} ${kind}`)
  if (!found) throw new Error(`the table of built-in kinds has no ${kind} of ${apiVersion}`)
  return found as Kind<T>
}

/** A kind of the table, or undefined when Kubernetes does not have it. */
export function findBuiltinKind(apiVersion: string, kind: string): Kind | undefined {
  return kinds.get(`${apiVersion} ${kind}`)
}

/** The minor of Kubernetes 1 that the table was made from. */
export const BUILTIN_MINOR_VERSION = 36

/** The kinds of each group that only Kubernetes itself serves, the core one being ``. */
export function builtInGroups(): ReadonlyMap<string, readonly Kind[]> {
  return Map.groupBy(TABLE_KINDS, ({ group }) => group)
}

function kindOfRow(row: Row): Kind {
  const { group, version, kind, plural, scope, description } = row
  const id = `${group}/${kind}`
  const nameFormat = NAME_FORMATS[id]
  const fillIn = DEFAULTERS[addressOf(group, version, kind)]
  let schema: StructuralSchema | undefined
  let blank: JsonObject | undefined
  let columns: readonly Column[] | undefined
  return {
    group,
    version,
    kind,
    plural,
    scope,
    description,
    singular: kind.toLowerCase(),
    listKind: `${kind}List`,
    shortNames: row.shortNames ?? [],
    categories: row.categories ?? [],
    subresources: compact({ status: row.status === true, scale: row.scale ? SCALE : undefined }),
    ...compact({ nameFormat, fillIn }),
    dropEmpty(object) {
      dropEmpty(object, this.schema)
    },
    ownErrors: (object) => builtinValidationErrors(object, typeSchema(row.schema)),
    examples: [],
    get schema() {
      return (schema ??= schemaOf(row))
    },
    get blank() {
      return (blank ??= blankFields(row))
    },
    get columns() {
      return (columns ??= columnsOf(row))
    },
  }
}

function blankFields({ schema }: Row): JsonObject {
  const { metadata: _metadata, ...fields } = zeroValue(schema)
  return fields
}

function schemaOf({ schema, description }: Row): StructuralSchema {
  const { properties, ...rest } = typeSchema(schema)
  const own = { apiVersion: TEXT, kind: TEXT, metadata: ANY_OBJECT }
  return { ...rest, description, properties: { ...properties, ...own } }
}

const TEXT: StructuralSchema = { type: 'string' }
const ANY_OBJECT: StructuralSchema = { type: 'object' }

function columnsOf(row: Row): readonly Column[] {
  const cells = BUILTIN_CELLS[`${row.group}/${row.kind}`] ?? {}
  return row.columns.map(([name, type, format, priority, described]) => ({
    name,
    type,
    description: COLUMN_DESCRIPTIONS[described]!,
    ...compact({ format: format === '' ? undefined : format, priority: priority === 0 ? undefined : priority }),
    ...cellOf(name, cells[name]),
  }))
}

function cellOf(name: string, cell: CellMaker | undefined): Pick<Column, 'jsonPath' | 'cell'> {
  if (cell) return { jsonPath: '', cell }
  if (name === 'Name') return { jsonPath: '.metadata.name' }
  if (name !== 'Age') throw new Error(`the column ${name} has no cell`)
  return { jsonPath: AGE.jsonPath, cell: (object, now) => formatAge(object.metadata.creationTimestamp, now) }
}
