import { compact } from '../../core/compact.ts'
import type { Caller, HttpRequest } from '../../core/http.ts'
import type { Authorizer } from './authorizer.ts'
import { badRequest, forbiddenForCaller } from '../http/api-errors.ts'
import type { AuthorizationAttributes } from '../http/api-errors.ts'

/** Impersonation by `Impersonate-*` headers, allowed by the verb `impersonate`. */

const ANONYMOUS = 'system:anonymous'
const AUTHENTICATED = 'system:authenticated'
const UNAUTHENTICATED = 'system:unauthenticated'
const EXTRA = 'impersonate-extra-'
const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/

/** The caller a request counts for: the authenticated user, or the user it may impersonate. */
export async function impersonate(request: HttpRequest, caller: Caller, authorizer: Authorizer): Promise<Caller> {
  const asked = askedFor(request)
  if (!asked) return caller
  if (asked.user === '') throw badRequest(`requested ${goText(asked)} without impersonating a user name`)
  for (const resource of resourcesOf(asked)) {
    const attempt: AuthorizationAttributes = { caller, verb: 'impersonate', path: '', resource }
    const { allowed, reason } = await authorizer.authorize(attempt)
    if (!allowed) throw forbiddenForCaller(attempt, reason)
  }
  return compact({
    user: asked.user,
    groups: groupsOf(asked),
    ...compact({ uid: asked.uid === '' ? undefined : asked.uid }),
    address: caller.address,
    ...compact({ extra: Object.keys(asked.extra).length > 0 ? asked.extra : undefined }),
    impersonator: caller.impersonator ?? caller.user,
  })
}

interface Asked {
  readonly user: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

function askedFor({ headers }: HttpRequest): Asked | undefined {
  if (!Object.keys(headers).some((name) => name.startsWith('impersonate-'))) return undefined
  const user = headers['impersonate-user'] ?? ''
  const uid = headers['impersonate-uid'] ?? ''
  const groups = valuesOf(headers['impersonate-group'])
  const extra: Record<string, readonly string[]> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(EXTRA)) extra[decode(name.slice(EXTRA.length))] = valuesOf(value)
  }
  if (user === '' && uid === '' && groups.length === 0 && Object.keys(extra).length === 0) return undefined
  return { user, uid, groups, extra }
}

// A header that came several times is one text by now.
function valuesOf(header: string | undefined): string[] {
  return header === undefined ? [] : header.split(', ')
}

function decode(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

function resourcesOf({ user, uid, groups, extra }: Asked): NonNullable<AuthorizationAttributes['resource']>[] {
  const account = SERVICE_ACCOUNT.exec(user)
  const own = 'authentication.k8s.io'
  return [
    account
      ? { group: '', plural: 'serviceaccounts', namespace: account[1], name: account[2] }
      : { group: '', plural: 'users', name: user },
    ...groups.map((name) => ({ group: '', plural: 'groups', name })),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((name) => ({ group: own, plural: 'userextras', subresource: key, name })),
    ),
    ...(uid === '' ? [] : [{ group: own, plural: 'uids', name: uid }]),
  ]
}

function groupsOf({ user, groups }: Asked): string[] {
  const account = SERVICE_ACCOUNT.exec(user)
  const given =
    groups.length === 0 && account ? ['system:serviceaccounts', `system:serviceaccounts:${account[1]}`] : groups
  if (given.includes(AUTHENTICATED) || given.includes(UNAUTHENTICATED)) return [...given]
  return [...given, user === ANONYMOUS ? UNAUTHENTICATED : AUTHENTICATED]
}

// Go's `%#v` of what was asked for; the sentence is Kubernetes' own.
function goText({ user, uid, groups, extra }: Asked): string {
  const quote = (text: string) => JSON.stringify(text)
  const list = (values: readonly string[]) => `[]string{${values.map(quote).join(', ')}}`
  const entries = Object.entries(extra).map(([key, values]) => `${quote(key)}:${list(values)}`)
  const groupText = groups.length === 0 ? '[]string(nil)' : list(groups)
  const extraText = entries.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${entries.join(', ')}}`
  return `&user.DefaultInfo{Name:${quote(user)}, UID:${quote(uid)}, Groups:${groupText}, Extra:${extraText}}`
}
