// Values made from a chart's defaults: every boolean turned round, every default nulled, types changed.
import { readYamlTable } from '../../render/helm/read-yaml.ts'
import { writeYaml } from '../../yaml/write.ts'

type Change = (value: unknown) => unknown

const CHANGES: Readonly<Record<string, Change>> = {
  toggled: (value) => (typeof value === 'boolean' ? !value : undefined),
  on: (value) => (value === false ? true : undefined),
  nulled: (value) => (value instanceof Map && value.size > 0 ? undefined : null),
  strings: (value) => (typeof value === 'number' ? String(value) : value === '' ? 'given' : undefined),
  filled: (value) => {
    if (Array.isArray(value) && value.length === 0) return [new Map([['name', 'given']])]
    if (value instanceof Map && value.size === 0) return new Map([['given', 'value']])
    return value === '' || value === null ? 'given' : undefined
  },
  swapped: (value) => {
    if (typeof value === 'string') return 7
    if (typeof value === 'number') return 'seven'
    return Array.isArray(value) ? new Map([['was', 'list']]) : undefined
  },
}

function change(value: unknown, by: Change): unknown {
  const changed = by(value)
  if (changed !== undefined) return changed
  if (!(value instanceof Map)) return undefined
  const entries = [...(value as Map<string, unknown>)]
    .map(([key, item]) => [key, change(item, by)] as const)
    .filter(([, item]) => item !== undefined)
  return entries.length > 0 ? new Map(entries) : undefined
}

/** Values files by the name of what was changed. */
export function generatedValues(defaults: Uint8Array): [string, string][] {
  let values: Map<string, unknown>
  try {
    values = readYamlTable(defaults)
  } catch {
    return []
  }
  return Object.entries(CHANGES).flatMap(([name, by]) => {
    const changed = change(values, by)
    return changed instanceof Map ? [[name, writeYaml(changed)] as [string, string]] : []
  })
}
