"""SQL of functions that more than one migration creates or drops."""

# Find, in one call, the workspaces that have rows in a table of things that are due. Row-level
# security shows one workspace at a time; asking a thousand of them from outside, each in a
# transaction of its own, would keep a sweep busy for a second. No policy is loosened: the function
# looks at each workspace as anybody in it would.
CREATE_WORKSPACES_WITH = """
CREATE FUNCTION engram_workspaces_with(due regclass) RETURNS SETOF uuid LANGUAGE plpgsql AS $$
DECLARE
    served text := current_setting('engram.workspace', true);
    candidate uuid;
    has_rows boolean;
BEGIN
    FOR candidate IN SELECT id FROM kernel_workspace LOOP
        PERFORM set_config('engram.workspace', candidate::text, true);
        EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE workspace_id = $1)', due)
            INTO has_rows USING candidate;
        IF has_rows THEN
            RETURN NEXT candidate;
        END IF;
    END LOOP;
    PERFORM set_config('engram.workspace', coalesce(served, ''), true);
END
$$;
"""
DROP_WORKSPACES_WITH = "DROP FUNCTION engram_workspaces_with(regclass)"
