/** The dialects there are. A dialect without kinds, controllers or projections does not compile. */
import { Stalled } from '../../core/errors.ts'
import type { HubConfig } from '../config.ts'

/** In the order in which a hub installs them. */
export const DIALECT_NAMES = ['fleet', 'ocm', 'argo', 'flux'] as const
export type DialectName = (typeof DIALECT_NAMES)[number]

const ALL = 'all'
const NONE = 'none'

/** The dialects that a hub serves. Defaults to all on the embedded home, and to none on a kube-apiserver. */
export function servedDialects({ dialects, kubeconfig }: Pick<HubConfig, 'dialects' | 'kubeconfig'>): DialectName[] {
  return parseDialects(dialects ?? (kubeconfig === undefined ? ALL : NONE))
}

/** The names of a setting like `fleet,ocm`. The empty text and `none` name no dialect, `all` names all. */
export function parseDialects(setting: string): DialectName[] {
  const given = setting.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
  if (given.length === 1 && given[0] === NONE) return []
  if (given.length === 1 && given[0] === ALL) return [...DIALECT_NAMES]
  const unknown = given.find((name) => !DIALECT_NAMES.some((known) => known === name))
  if (unknown !== undefined) {
    const reason =
      unknown === ALL || unknown === NONE
        ? `${JSON.stringify(unknown)} cannot be combined with other dialects`
        : `unknown dialect ${JSON.stringify(unknown)}`
    throw new Stalled('BadConfig', `dialects: ${reason}; valid dialects: ${DIALECT_NAMES.join(', ')}, ${ALL}, ${NONE}`)
  }
  return DIALECT_NAMES.filter((name) => given.includes(name))
}
