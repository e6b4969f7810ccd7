/** The dialects there are. A dialect without kinds, controllers or projections does not compile. */
import { Stalled } from '../../core/errors.ts'
import type { HubConfig } from '../config.ts'

/** In the order in which a hub installs them. */
export const DIALECT_NAMES = ['fleet', 'ocm', 'argo', 'flux', 'karmada'] as const
export type DialectName = (typeof DIALECT_NAMES)[number]

const ALL = 'all'
const NONE = 'none'

/** Served only with `hubTemplates`: its objects are workloads, which an ordinary hub does not have. */
const OF_TEMPLATES: DialectName = 'karmada'

type Setting = Pick<HubConfig, 'dialects' | 'kubeconfig' | 'hubTemplates'>

/**
 * The dialects that a hub serves. Defaults to all on the embedded home, and to none on a kube-apiserver. Hub templates
 * bring their dialect, and are refused where controllers would run them.
 */
export function servedDialects({ dialects, kubeconfig, hubTemplates }: Setting): DialectName[] {
  const setting = dialects ?? (kubeconfig === undefined ? ALL : NONE)
  const names = parseDialects(setting)
  if (hubTemplates === undefined) {
    if (setting.trim() !== ALL && names.includes(OF_TEMPLATES)) {
      throw new Stalled('BadConfig', `dialects: ${OF_TEMPLATES} needs hub templates`, { todo: 'give --hub-templates' })
    }
    return names.filter((name) => name !== OF_TEMPLATES)
  }
  if (kubeconfig !== undefined && hubTemplates !== 'NoControllers') {
    throw new Stalled(
      'BadConfig',
      'hubTemplates: the controllers of a kube-apiserver run the workloads that are stored on it',
      {
        todo: 'if no kube-controller-manager runs there, give --hub-templates NoControllers; otherwise use a hub of its own',
      },
    )
  }
  return DIALECT_NAMES.filter((name) => name === OF_TEMPLATES || names.includes(name))
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
