/** Names that Projects use in metadata, without the schema of the kind, so that the command line starts fast. */

/** The annotation of a Bundle with its ticket. */
export const TICKET_ANNOTATION = 'flotilla.dev/ticket'

/** The label of the Projects that an upgrade made; `flotilla check` names them. */
export const MIGRATED_LABEL = 'flotilla.dev/migrated'
