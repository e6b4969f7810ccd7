/** Who the hub says is calling. */
import { clientOver } from '../../client/create-client.ts'
import type { Rest } from '../../client/rest.ts'
import type { KubeObject, ResourceType } from '../../kinds/meta.ts'

interface SelfSubjectReview extends KubeObject {
  readonly status?: { readonly userInfo?: { readonly username?: string; readonly groups?: readonly string[] } }
}

const REVIEW: ResourceType<SelfSubjectReview> = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectReview',
  plural: 'selfsubjectreviews',
  scope: 'Cluster',
}

/** The caller's name and groups, as the API knows them. */
export async function whoAmI(rest: Rest): Promise<{ readonly username: string; readonly groups: readonly string[] }> {
  const question: SelfSubjectReview = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: REVIEW.kind,
    metadata: { name: '' },
  }
  const { status } = await clientOver(rest).create(REVIEW, question)
  return { username: status?.userInfo?.username ?? '', groups: status?.userInfo?.groups ?? [] }
}
