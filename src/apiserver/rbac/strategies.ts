import { isObject, jsonEqual } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '../../kinds/builtin/rbac.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { invalid, notSupported, required } from '../../kinds/validation/field-error.ts'
import type { FieldError } from '../../kinds/validation/field-error.ts'
import type { Strategy } from '../strategies/strategy.ts'

/** What roles and bindings must be beyond their schema, in the words of a kube-apiserver. */

const GROUP = Role.group

function role(isNamespaced: boolean): Strategy {
  return { validate: (object) => objectsOf(object['rules']).flatMap((rule, at) => ruleErrors(rule, at, isNamespaced)) }
}

function ruleErrors(rule: JsonObject, index: number, isNamespaced: boolean): FieldError[] {
  const at = `rules[${index}]`
  const count = (field: string) => (Array.isArray(rule[field]) ? rule[field].length : 0)
  const errors: FieldError[] = []
  if (count('verbs') === 0) errors.push(required(`${at}.verbs`, 'verbs must contain at least one value'))
  if (count('nonResourceURLs') > 0) {
    const urls = rule['nonResourceURLs']
    if (isNamespaced) {
      errors.push(invalid(`${at}.nonResourceURLs`, urls, 'namespaced rules cannot apply to non-resource URLs'))
    }
    if (count('apiGroups') > 0 || count('resources') > 0 || count('resourceNames') > 0) {
      const why = 'rules cannot apply to both regular resources and non-resource URLs'
      errors.push(invalid(`${at}.nonResourceURLs`, urls, why))
    }
    return errors
  }
  if (count('apiGroups') === 0) {
    errors.push(required(`${at}.apiGroups`, 'resource rules must supply at least one api group'))
  }
  if (count('resources') === 0) {
    errors.push(required(`${at}.resources`, 'resource rules must supply at least one resource'))
  }
  return errors
}

function binding(roleKinds: readonly string[]): Strategy {
  return {
    validate(object, old) {
      const { roleRef } = object
      if (!isObject(roleRef)) return []
      const errors: FieldError[] = []
      if (roleRef['apiGroup'] !== GROUP) errors.push(notSupported('roleRef.apiGroup', roleRef['apiGroup'], [GROUP]))
      if (!roleKinds.includes(String(roleRef['kind']))) {
        errors.push(notSupported('roleRef.kind', roleRef['kind'], roleKinds))
      }
      if (roleRef['name'] === '') errors.push(required('roleRef.name'))
      errors.push(...objectsOf(object['subjects']).flatMap((subject, at) => subjectErrors(subject, at, object)))
      if (old && !jsonEqual(roleRef, old['roleRef'])) {
        const shown = { APIGroup: roleRef['apiGroup'], Kind: roleRef['kind'], Name: roleRef['name'] }
        errors.push(invalid('roleRef', shown, 'cannot change roleRef'))
      }
      return errors
    },
  }
}

const SUBJECTS = ['ServiceAccount', 'User', 'Group'] as const

function subjectErrors(subject: JsonObject, index: number, { kind }: UnknownObject): FieldError[] {
  const at = `subjects[${index}]`
  const { name, apiGroup = '', namespace } = subject
  const errors: FieldError[] = []
  if (name === '') errors.push(required(`${at}.name`))
  if (subject['kind'] === 'ServiceAccount') {
    if (apiGroup !== '') errors.push(notSupported(`${at}.apiGroup`, apiGroup, ['']))
    // In a RoleBinding the namespace of the binding is meant.
    if (!namespace && kind === ClusterRoleBinding.kind) errors.push(required(`${at}.namespace`))
  } else if (!SUBJECTS.some((known) => known === subject['kind'])) {
    errors.push(notSupported(`${at}.kind`, subject['kind'], SUBJECTS))
  } else if (apiGroup !== GROUP) errors.push(notSupported(`${at}.apiGroup`, apiGroup, [GROUP]))
  return errors
}

function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** By group and kind, as `strategyOf` looks them up. */
export const RBAC_STRATEGIES: Readonly<Record<string, Strategy>> = {
  [`${GROUP}/${Role.kind}`]: role(true),
  [`${GROUP}/${ClusterRole.kind}`]: role(false),
  [`${GROUP}/${RoleBinding.kind}`]: binding([Role.kind, ClusterRole.kind]),
  [`${GROUP}/${ClusterRoleBinding.kind}`]: binding([ClusterRole.kind]),
}
