// Tested by src/dialects/argo/projects/project-permissions.test.ts.
/** Why Argo CD refuses an AppProject. */
import { windowsProblem } from '../sync/sync-windows.ts'
import type { SyncWindow } from '../sync/sync-windows.ts'
import { compileArgoGlob } from '../glob.ts'
import type { ProjectSpec } from './project-permissions.ts'

/** The part of an AppProject that is checked. */
export interface CheckedProject extends ProjectSpec {
  readonly roles?: readonly {
    readonly name?: string
    readonly policies?: readonly string[]
    readonly groups?: readonly string[]
  }[]
  readonly syncWindows?: readonly SyncWindow[]
  readonly destinationServiceAccounts?: readonly {
    readonly server?: string
    readonly namespace?: string
    readonly defaultServiceAccount?: string
  }[]
}

/** The first problem of a project; undefined when there is none. */
export function projectProblem(name: string, spec: CheckedProject): string | undefined {
  return (
    destinationsProblem(spec) ??
    repeated(spec.sourceNamespaces ?? [], 'source namespace') ??
    (spec.sourceRepos?.includes('!*')
      ? "source repository has an invalid format, '!*'"
      : repeated(spec.sourceRepos ?? [], 'source repository')) ??
    rolesProblem(name, spec) ??
    windowsProblem(spec.syncWindows ?? []) ??
    serviceAccountsProblem(spec)
  )
}

function repeated(items: readonly string[], what: string): string | undefined {
  const twice = items.find((item, at) => items.indexOf(item) !== at)
  return twice === undefined ? undefined : `${what} '${twice}' already added`
}

function destinationsProblem({ destinations = [] }: CheckedProject): string | undefined {
  const keys: string[] = []
  for (const { name = '', server = '', namespace = '' } of destinations) {
    for (const [field, text] of Object.entries({ name, server, namespace })) {
      if (text === '!*') return `${field} has an invalid format, '!*'`
    }
    keys.push(`${server === '' && name !== '' ? name : server}/${namespace}`)
  }
  return repeated(keys, 'destination')
}

const ROLE_NAME = /^[a-zA-Z0-9]([-_a-zA-Z0-9]*[a-zA-Z0-9])?$/

function rolesProblem(project: string, { roles = [] }: CheckedProject): string | undefined {
  const names = roles.map(({ name = '' }) => name)
  for (const [at, { name = '', policies = [], groups = [] }] of roles.entries()) {
    if (names.indexOf(name) !== at) return `role '${name}' already exists`
    if (!ROLE_NAME.test(name)) return `invalid role name '${name}'`
    for (const [index, policy] of policies.entries()) {
      if (policies.indexOf(policy) !== index) return `policy '${policy}' already exists for role '${name}'`
      const problem = policyProblem(project, name, policy)
      if (problem !== undefined) return `invalid policy rule '${policy}': ${problem}`
    }
    for (const [index, group] of groups.entries()) {
      if (groups.indexOf(group) !== index) return `group '${group}' already exists for role '${name}'`
      if (!isGroupName(group)) return `group '${group}' is not valid`
    }
  }
  return undefined
}

const RESOURCES = new Set(['applications', 'applicationsets', 'logs', 'exec', 'clusters', 'repositories'])
const ACTIONS = new Set(['get', 'create', 'update', 'delete', 'sync', 'override', 'rollback', '*'])

function policyProblem(project: string, role: string, policy: string): string | undefined {
  const [p, subject, resource, action, object = '', effect, ...more] = policy
    .split(',')
    .map((part) => part.replaceAll(/^ +| +$/g, ''))
  if (p !== 'p' || effect === undefined || more.length > 0) return "must be of the form: 'p, sub, res, act, obj, eft'"
  if (subject !== `proj:${project}:${role}`) return `policy subject must be 'proj:${project}:${role}'`
  if (!RESOURCES.has(resource!)) return `unknown resource '${resource}'`
  if (!ACTIONS.has(action!) && !/(?:action|update|delete)\//.test(action!)) return `invalid action '${action}'`
  const rest = object.startsWith(project) ? object.slice(project.length) : ''
  if (!/^(?:\/[*\w.-]+){1,2}$/.test(rest)) return `object must be of form '${project}/*'`
  return effect === 'allow' || effect === 'deny' ? undefined : "effect must be: 'allow' or 'deny'"
}

function isGroupName(group: string): boolean {
  const trimmed = group.trim()
  const isQuoted = trimmed.length > 1 && trimmed.startsWith('"') && trimmed.endsWith('"')
  const name = isQuoted ? trimmed.slice(1, -1) : trimmed
  if ((!isQuoted && name.includes(',')) || name === '' || /["\n\r\t]/.test(name)) return false
  return group.length <= 1 || group === trimmed
}

function serviceAccountsProblem({ destinationServiceAccounts = [] }: CheckedProject): string | undefined {
  const keys: string[] = []
  for (const { server = '', namespace = '', defaultServiceAccount = '' } of destinationServiceAccounts) {
    for (const [field, text] of Object.entries({ server, namespace })) {
      if (text.includes('!') || !compileArgoGlob(text)) return `${field} has an invalid format, '${text}'`
    }
    if (/^ *$/.test(defaultServiceAccount) || /[!*[\]{}\\/]/.test(defaultServiceAccount)) {
      return `defaultServiceAccount has an invalid format, '${defaultServiceAccount}'`
    }
    keys.push(`${server}/${namespace}`)
  }
  return repeated(keys, 'destinationServiceAccount')
}
