/** How a session was opened. */
export type SignInMethod = 'code' | 'token' | 'oidc'

/** A session as its user sees it in the list. */
export interface SessionRow {
  readonly id: string
  readonly method: SignInMethod
  readonly created: string
  readonly used: string
  readonly ends: string
  readonly isThis: boolean
}
