import type { PolicyRule } from '../../kinds/builtin/rbac.ts'

/** Short ways to write rules of the roles that exist from the start. */

/** The verbs of reading. */
export const READ = ['get', 'list', 'watch']

/** Verbs on resources of one or several groups. */
export function ruleFor(verbs: string[], group: string | string[], ...resources: string[]): PolicyRule {
  return { verbs, apiGroups: [group].flat(), resources }
}

/** Reading of paths that are no resources. */
export function nonResourceRule(...nonResourceURLs: string[]): PolicyRule {
  return { verbs: ['get'], nonResourceURLs }
}
