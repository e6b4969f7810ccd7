/** Sign-in with a real OpenID Connect issuer in a real browser: SameSite cookies and the redirects between two sites. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { FREE, startFlotilla, temporaryFolder } from '../e2e/flotilla-process.ts'
import { CLIENT_ID, startIssuer } from '../../src/testing/hub/oidc-issuer.ts'
import { openBrowser, violationsOf } from './console-browser.ts'

const WAIT = { timeout: 120_000 }

test('a person signs in with the issuer, comes back to the page they asked for, and signs out', async (t) => {
  const browser = await openBrowser(t)
  const folder = temporaryFolder(t)
  const issuer = await startIssuer(t)
  const ca = join(folder, 'issuer-ca.crt')
  writeFileSync(ca, issuer.ca)
  const oidc = ['--oidc-issuer', issuer.url, '--oidc-client-id', CLIENT_ID, '--oidc-ca', ca]
  const hub = startFlotilla(t, ['hub', 'run', '--data', join(folder, 'hub'), ...FREE, ...oidc])
  const [, origin = ''] = await hub.says(/ console (http:\/\/[^/\s]+)/)
  // The browser of a person trusts the CA of their issuer.
  const page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage()
  issuer.signsIn('ana', ['ops'])

  await page.goto(`${origin}/rollouts`)
  const link = page.getByRole('link', { name: `Sign in with ${new URL(issuer.url).host}` })
  await link.waitFor(WAIT)
  assert.deepEqual(await violationsOf(page), [])
  await link.click()
  await page.waitForURL(`${origin}/rollouts`, WAIT)
  await page.getByRole('button', { name: 'oidc:ana' }).waitFor(WAIT)
  await page.waitForSelector('.failure :text("You may not see the rollouts.")', WAIT)

  await page.getByRole('button', { name: 'oidc:ana' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click(WAIT)
  await link.waitFor(WAIT)
})
