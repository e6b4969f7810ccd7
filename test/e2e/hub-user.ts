/** A user of a kube-apiserver with the rights that docs/access.md writes down for a hub, and no more. */
import assert from 'node:assert/strict'
import type { ControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { documentedHubRoles } from '../../src/testing/hub/documented-roles.ts'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'

/** The user of a hub's kubeconfig. */
export const HUB_USER = 'the-hub'

/** Applies the roles of the page, and binds them to the hub. */
export async function grantHubRoles(home: ControlPlane, dialects: readonly string[] = []): Promise<void> {
  for (const { kind, apiVersion, metadata, ...content } of documentedHubRoles(dialects)) {
    const inNamespace = metadata.namespace ? `/namespaces/${metadata.namespace}` : ''
    const at = kind === 'Namespace' ? '/api/v1' : `${RBAC}${inNamespace}`
    const made = await home.call('POST', `${at}/${kind.toLowerCase()}s`, { kind, apiVersion, metadata, ...content })
    assert.equal(made.status, 201, made.text)
    if (kind === 'Namespace') continue
    const binding = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: metadata.name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: HUB_USER }],
    }
    assert.equal((await home.call('POST', `${at}/${kind.toLowerCase()}bindings`, binding)).status, 201)
  }
}
