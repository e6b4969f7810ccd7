/** What the signed-in user may do, as the API answers it. */
import { useQuery } from '@tanstack/react-query'
import { read, send } from './api.ts'
import { groupOf } from './paths.ts'

/** The user of this session. */
export interface Session {
  readonly username: string
  readonly groups: readonly string[]
  readonly method: 'code' | 'token' | 'oidc'
  readonly ends: string
}

export interface Wanted {
  readonly verb: string
  /** Plural, with a subresource as `releases/status`. */
  readonly resource: string
  readonly namespace?: string | undefined
  readonly name?: string | undefined
}

export function useSession(): Session | undefined {
  return useQuery({ queryKey: ['session'], queryFn: ({ signal }) => read<Session>('/console/session', signal) }).data
}

/** Whether the user has a right; undefined until the API has answered. */
export function useMay(wanted: Wanted): { readonly isAllowed: boolean | undefined; readonly missing: string } {
  const { verb, resource, namespace, name } = wanted
  const [plural = '', subresource] = resource.split('/')
  const group = groupOf(plural)
  const { data } = useQuery({
    queryKey: ['may', verb, group, resource, namespace ?? '', name ?? ''],
    queryFn: async () => {
      const { value } = await send<{ status?: { allowed?: boolean } }>(
        '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        {
          method: 'POST',
          body: {
            apiVersion: 'authorization.k8s.io/v1',
            kind: 'SelfSubjectAccessReview',
            spec: {
              resourceAttributes: {
                verb,
                group,
                resource: plural,
                ...(subresource !== undefined && { subresource }),
                ...(namespace && { namespace }),
                ...(name && { name }),
              },
            },
          },
        },
      )
      return value.status?.allowed === true
    },
  })
  return { isAllowed: data, missing: missingRight(wanted) }
}

/** The sentence that names a missing right. */
function missingRight({ verb, resource, namespace }: Wanted): string {
  const [plural = '', subresource] = resource.split('/')
  const group = groupOf(plural)
  const where = namespace === undefined ? '' : ` in namespace "${namespace}"`
  const kind = `${plural}${group === '' ? '' : `.${group}`}${subresource === undefined ? '' : `/${subresource}`}`
  return `You need the right "${verb}" on ${kind}${where}.`
}
