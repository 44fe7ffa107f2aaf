-- Run once by the superuser, when the database is made. The password comes from the environment.
\set ON_ERROR_STOP on
\getenv password ENGRAM_DATABASE_PASSWORD
CREATE ROLE engram LOGIN PASSWORD :'password' NOSUPERUSER NOBYPASSRLS NOCREATEROLE CREATEDB;
CREATE DATABASE engram OWNER engram;
\connect template1
CREATE EXTENSION vector;
\connect engram
CREATE EXTENSION vector;
