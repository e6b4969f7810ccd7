/** Where the content of a Source comes from, as the Source, the Release and the Bundle record it. */
import { object, optional, text } from '../schema/schema-builders.ts'

/** The longest author or subject that is recorded. */
export const MAX_COMMIT_TEXT = 256

/** Author and subject of a git commit. A chart or an OCI artifact has neither. */
export const COMMIT_TEXTS = {
  author: optional(
    text({
      max: MAX_COMMIT_TEXT,
      description:
        'Name of the author of the git commit, as the commit states it. Absent if the content is not from git, or if the author is unknown.',
    }),
  ),
  subject: optional(
    text({
      max: MAX_COMMIT_TEXT,
      description:
        'First line of the message of the git commit. Absent if the content is not from git, or if the message is unknown.',
    }),
  ),
}

const FROM = 'Address that the content was fetched from: the git server, chart repository, registry or mirror.'

/** The origin of content: commit and address. */
export const ORIGIN_FIELDS = { ...COMMIT_TEXTS, from: optional(text({ max: 2048, description: FROM })) }

/** The origin of content beside its revision; undefined for content that is not from a Source. */
export const origin = () =>
  optional(
    object(ORIGIN_FIELDS, {
      description:
        'Commit and address that the content was fetched from. Absent if the content is not from a Source, or if an earlier version of the hub made it.',
    }),
  )

/** The origin of content, for example `{ author: 'Jo', subject: 'Raise replicas', from: 'https://git.example' }`. */
export interface Origin {
  readonly author?: string
  readonly subject?: string
  readonly from?: string
}
