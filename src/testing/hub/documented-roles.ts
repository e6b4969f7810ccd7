/** The manifests of docs/access.md for a hub on a kube-apiserver, as a reader of the page applies them. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { PolicyRule } from '../../kinds/builtin/rbac.ts'
import { readYaml } from '../../yaml/read/read-yaml.ts'

const ACCESS = resolve(import.meta.dirname, '../../../docs/access.md')

export interface DocumentedRole {
  readonly apiVersion: string
  readonly kind: 'ClusterRole' | 'Role' | 'Namespace'
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly rules?: PolicyRule[]
}

/** The roles of every hub and those of dialects, in the order of the page. */
export function documentedHubRoles(dialects: readonly string[]): DocumentedRole[] {
  const page = readFileSync(ACCESS, 'utf8')
  const blocks = [...page.matchAll(/```yaml\n(apiVersion: rbac[\s\S]*?)```/g)].flatMap(([, text]) =>
    readYaml(text!, { file: ACCESS }).map(({ value }) => value as DocumentedRole),
  )
  const wanted = ['flotilla-hub', 'flotilla-system', ...dialects.map((dialect) => `flotilla-hub-${dialect}`)]
  // The namespace first: a Role needs it.
  const order = (one: DocumentedRole) => (one.kind === 'Namespace' ? 0 : 1)
  return blocks.filter(({ metadata }) => wanted.includes(metadata.name)).toSorted((a, b) => order(a) - order(b))
}
