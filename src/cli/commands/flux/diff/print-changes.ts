/** Changes in the form of `flux diff`. */
import { nameSome, plural } from '../../../../core/text/name-some.ts'
import type { FieldChange } from '../../../../plan/objects/object-changes.ts'
import type { ObjectChange } from './compare-delivered.ts'

/** Clusters with the same changes. */
export interface ChangedClusters {
  readonly clusters: readonly string[]
  readonly changes: readonly ObjectChange[]
}

const MOST_NAMED = 10
const WORDS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve']

/** The changes of a Kustomization: one list per group of clusters, with their names where it reaches several. */
export function changesText(groups: readonly ChangedClusters[], reached: number): string {
  return groups
    .filter(({ changes }) => changes.length > 0)
    .map(({ clusters, changes }) => {
      const names = `# ${nameSome(clusters, MOST_NAMED)} (${plural(clusters.length, 'cluster')})\n`
      return `${reached > 1 ? names : ''}${changes.map(changeText).join('')}`
    })
    .join('\n')
}

function changeText({ subject, action, fields, inCluster }: ObjectChange): string {
  const head = `► ${subject} ${action}\n`
  const live = inCluster === undefined ? '' : `changed in the cluster${inCluster === '' ? '' : `: ${inCluster}`}\n`
  if (fields.length === 0 && live === '') return head
  return `${head}\n${fieldsText(fields)}${live === '' ? '' : `${live}\n`}`
}

function fieldsText(fields: readonly FieldChange[]): string {
  const blocks = new Map<string, string[]>()
  const add = (path: string, lines: string): void => void blocks.set(path, [...(blocks.get(path) ?? []), lines])
  const whole = new Map<string, { readonly path: string; readonly sign: '+' | '-'; readonly entries: string[] }>()
  for (const change of fields) {
    const { field, before, after, hidden } = change
    if (before === undefined && after === undefined) {
      add(pathOf(field.replace(/ \(order\)$/, '')), '  ⇆ order changed\n')
    } else if (before !== undefined && after !== undefined) {
      const side = (sign: string, text: string, name: string) => `    ${sign} ${hidden ? `***** (${name})` : text}\n`
      add(pathOf(field), `  ± value change\n${side('-', before, 'before')}${side('+', after, 'after')}`)
    } else {
      const sign = before === undefined ? '+' : '-'
      const { parent, entry, isList } = lastStep(field)
      const key = `${sign} ${isList} ${parent}`
      const known = whole.get(key) ?? { path: parent, sign, entries: [] as string[] }
      known.entries.push(isList ? `- name: ${entry}` : `${entry}: ${hidden ? '*****' : (before ?? after)}`)
      whole.set(key, known)
    }
  }
  for (const [key, { path, sign, entries }] of whole) {
    const noun = key.split(' ')[1] === 'true' ? 'list' : 'map'
    const count = `${WORDS[entries.length] ?? entries.length} ${noun} ${entries.length === 1 ? 'entry' : 'entries'}`
    const lines = entries.map((line) => `    ${line}\n`).join('')
    add(path, `  ${sign} ${count} ${sign === '+' ? 'added' : 'removed'}:\n${lines}`)
  }
  return [...blocks].map(([path, parts]) => `${path}\n${parts.join('  \n')}\n`).join('')
}

const STEP = /\.([\w-]+)|\["((?:[^"\\]|\\.)*)"\]|\[name=([^\]]*)\]|\[(\d+)\]/g

/** `.spec.ports[name=http].port` as `spec.ports.http.port`. */
function pathOf(field: string): string {
  return [...field.matchAll(STEP)].map(([, word, quoted, name, index]) => word ?? quoted ?? name ?? index).join('.')
}

function lastStep(field: string): { readonly parent: string; readonly entry: string; readonly isList: boolean } {
  const steps = [...field.matchAll(STEP)]
  const last = steps.at(-1)
  const [, word, quoted, name, index] = last ?? []
  return {
    parent: pathOf(field.slice(0, last?.index ?? 0)) || '(root level)',
    entry: word ?? quoted ?? name ?? index ?? field,
    isList: name !== undefined || index !== undefined,
  }
}
