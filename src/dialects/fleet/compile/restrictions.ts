/**
 * GitRepoRestrictions of a namespace: what its GitRepos may name. They limit further what the Project of the namespace
 * allows, and never allow more. A GitRepo that is refused is frozen: its Bundles stay as they are.
 */
import { RE2JS } from 're2js'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { compareText } from '../../../core/text/compare-text.ts'
import { nameSome } from '../../../core/text/name-some.ts'
import type { GitRepoRestriction } from '../kinds.ts'
import type { CompiledBundle } from './compile-bundle.ts'

/** The restrictions of a namespace together: lists are joined, and the first default by name counts. */
export interface Restrictions {
  /** Names of the objects, for messages. */
  readonly names: readonly string[]
  readonly serviceAccount: string
  readonly serviceAccounts: readonly string[]
  readonly repoPatterns: readonly string[]
  readonly clientSecret: string
  readonly clientSecrets: readonly string[]
  readonly targetNamespaces: readonly string[]
  /** Whether one of them selects target namespaces by their labels, which only the cluster knows. */
  readonly selectsNamespaces: boolean
}

/** Joins the restrictions of a namespace; undefined when it has none. */
export function joinRestrictions(all: readonly GitRepoRestriction[]): Restrictions | undefined {
  if (all.length === 0) return undefined
  const sorted = all.toSorted((a, b) => compareText(a.metadata.name, b.metadata.name))
  const lists = (field: 'allowedServiceAccounts' | 'allowedRepoPatterns' | 'allowedTargetNamespaces') =>
    sorted.flatMap((one) => one[field] ?? [])
  const first = (field: 'defaultServiceAccount' | 'defaultClientSecretName') =>
    sorted.map((one) => one[field] ?? '').find((name) => name !== '') ?? ''
  return {
    names: sorted.map(({ metadata }) => metadata.name),
    serviceAccount: first('defaultServiceAccount'),
    serviceAccounts: lists('allowedServiceAccounts'),
    repoPatterns: lists('allowedRepoPatterns'),
    clientSecret: first('defaultClientSecretName'),
    clientSecrets: sorted.flatMap((one) => one.allowedClientSecretNames ?? []),
    targetNamespaces: lists('allowedTargetNamespaces'),
    selectsNamespaces: sorted.some((one) => one.allowedTargetNamespaceSelector !== undefined),
  }
}

/** The spec of a GitRepo with the defaults of the restrictions, or why they refuse it. */
export function restrictRepo(
  spec: JsonObject,
  rules: Restrictions,
): { readonly spec: JsonObject } | { readonly refusal: string } {
  const say = (why: string) => ({ refusal: `${subjectOf(rules)} ${why}` })
  if (rules.selectsNamespaces) {
    return say(
      'have allowedTargetNamespaceSelector, which is not served because only a cluster knows the labels of its namespaces; list the namespaces in allowedTargetNamespaces instead.',
    )
  }
  const { serviceAccounts, clientSecrets, targetNamespaces, repoPatterns } = rules
  const [repo, account] = [textOf(spec['repo']), textOf(spec['serviceAccount'])]
  const [secret, target] = [textOf(spec['clientSecretName']), textOf(spec['targetNamespace'])]
  if (targetNamespaces.length > 0 && target === '') {
    return say(`have allowedTargetNamespaces, so spec.targetNamespace must name one of ${nameSome(targetNamespaces)}.`)
  }
  if (targetNamespaces.length > 0 && !targetNamespaces.includes(target)) {
    return say(`do not list spec.targetNamespace ${target} in allowedTargetNamespaces.`)
  }
  if (account !== '' && serviceAccounts.length > 0 && !serviceAccounts.includes(account)) {
    return say(`do not list spec.serviceAccount ${account} in allowedServiceAccounts.`)
  }
  const broken = repoPatterns.find((pattern) => !isPattern(pattern))
  if (broken !== undefined)
    return say(`have ${JSON.stringify(broken)} in allowedRepoPatterns, which is not an RE2 pattern.`)
  // As in Fleet, a pattern may match any part of the address.
  if (repoPatterns.length > 0 && !repoPatterns.some((pattern) => RE2JS.compile(pattern).matcher(repo).find())) {
    return say(`have no entry in allowedRepoPatterns that matches spec.repo ${repo}.`)
  }
  const name = secret === '' ? rules.clientSecret : secret
  if (secret !== '' && clientSecrets.length > 0 && !clientSecrets.includes(secret)) {
    return say(`do not list spec.clientSecretName ${secret} in allowedClientSecretNames.`)
  }
  const defaults = { serviceAccount: account === '' ? rules.serviceAccount : account, clientSecretName: name }
  return { spec: { ...spec, ...Object.fromEntries(Object.entries(defaults).filter(([, value]) => value !== '')) } }
}

/**
 * Why the restrictions refuse compiled Bundles. A fleet.yaml may name another ServiceAccount than its GitRepo, which
 * Fleet does not check.
 */
export function restrictBundles(
  bundles: readonly Pick<CompiledBundle, 'name' | 'spec'>[],
  rules: Restrictions,
): string | undefined {
  const allowed = [...rules.serviceAccounts, rules.serviceAccount]
  if (rules.serviceAccounts.length === 0) return undefined
  for (const { name, spec } of bundles) {
    const executors = [spec.executor, ...(spec.variants ?? []).map(({ options }) => options?.executor)]
    const refused = executors.find((one) => isObject(one) && !allowed.includes(one.name))
    if (refused) {
      return `${subjectOf(rules)} do not list ServiceAccount ${refused.name} of Bundle ${name} in allowedServiceAccounts.`
    }
  }
  return undefined
}

function subjectOf({ names }: Restrictions): string {
  return `GitRepoRestrictions (${nameSome(names)}) of the namespace`
}

function isPattern(pattern: string): boolean {
  try {
    RE2JS.compile(pattern)
    return true
  } catch {
    return false
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
