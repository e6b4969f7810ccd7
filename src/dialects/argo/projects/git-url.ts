/** Addresses of repositories in the form in which Argo CD compares them. */
import { GoError } from '../../../render/gotemplate/function.ts'
import { parseGoUrl, printGoUrl } from '../../../render/helm/functions/go/go-url.ts'

const SSH = /^(ssh:\/\/)?([^/:]*?)@[^@]+$/
const PARTS = /^((?:[a-z][a-z0-9+.-]*:)?(?:\/\/[^/?#]*)?)([^?#]*)(.*)$/s
// What may stand in a path as it is written; with another character Go escapes the whole path, stars and all.
const WRITTEN_PATH = /^[\w.~$&+,/:;=@!'()*[\]%-]*$/

/** The address without letter case, `.git` and the difference between the two forms of ssh; '' when it is not valid. */
export function normalizeGitUrl(address: string): string {
  let text = address.trim().toLowerCase()
  if (SSH.test(text) && !text.startsWith('ssh://')) text = `ssh://${text.replace(':', '/')}`
  text = text.replace(/\.git$/, '')
  try {
    const parsed = parseGoUrl(text, { strictHosts: true })
    const [, start = '', path = '', rest = ''] = PARTS.exec(text) ?? []
    const isWritten = WRITTEN_PATH.test(path) || parsed.opaque !== ''
    return (isWritten ? start + path + rest : printGoUrl(parsed)).replace(/^ssh:\/\//, '')
  } catch (caught) {
    if (caught instanceof GoError) return ''
    throw caught
  }
}
